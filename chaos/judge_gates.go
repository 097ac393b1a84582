package chaos

import (
	"slices"
	"time"
)

// gates judges an opening, and tracks which task holds which lane and pool. A task holds
// them from the moment it may start until it ends or steps back; the loss of a worker
// does not change that.
func (j *judge) gates(l *life, v *Event) {
	switch v.Type {
	case "submitted", "opened":
		j.needsMet(l, v)
		j.enterLane(l)
		j.enterPool(l)
	case "claimed":
		j.due[lease{l.ID, v.Attempt}] = l.runAt
	case "done", "failed", "canceled", "skipped", "retrying", "snoozed", "held":
		delete(j.lanes[l.Lane], l.ID)
		delete(j.pools[l.Pool], l.ID)
	}
}

// onTime judges by the parent's own clock that a claim was not answered, and its work not
// begun, before its time. The time of an event cannot be used: it is when the function
// began, and a function that waited for a lock may open what became due while it waited.
func (j *judge) onTime(op Op) {
	at := op.Call
	if op.Op == "claim" {
		at = op.Return
	}
	if early := j.due[op.lease()].UnixNano() - at; !j.due[op.lease()].IsZero() && early > 0 {
		j.find(ruleTime, op.Task, "attempt %d: %s by %s %s before its time", op.Attempt, op.Op, op.Client, time.Duration(early))
	}
}

func (j *judge) needsMet(l *life, v *Event) {
	failed := 0
	for _, id := range l.Needs {
		need := j.lives[id]
		switch {
		case need == nil:
			j.find(ruleNeeds, l.ID, "needs %s, which does not exist", id)
			return
		case l.Rule == "one_failed":
		case !terminal(need.state):
			j.find(ruleNeeds, l.ID, "%s while its need %s is %s", v.Type, id, need.state)
		case l.Rule == "all_success" && need.state != "done" && !need.Passes:
			j.find(ruleNeeds, l.ID, "%s although its need %s is %s", v.Type, id, need.state)
		}
		if terminal(need.state) && need.state != "done" {
			failed++
		}
	}
	if l.Rule == "one_failed" && failed == 0 {
		j.find(ruleNeeds, l.ID, "%s although none of its needs failed", v.Type)
	}
}

func (j *judge) enterLane(l *life) {
	if l.Lane == "" {
		return
	}
	for _, other := range j.lanes[l.Lane] {
		if l.Exclusive || other.Exclusive {
			j.find(ruleExclusive, l.ID, "enters lane %s, which %s holds", l.Lane, other.ID)
		}
	}
	if l.Rank != nil {
		i := slices.IndexFunc(j.members[l.Lane], func(o *life) bool {
			return *o.Rank < *l.Rank && j.keeps(o)
		})
		if i >= 0 {
			o := j.members[l.Lane][i]
			j.find(ruleRank, l.ID, "rank %d of lane %s starts while %s of rank %d is %s", *l.Rank, l.Lane, o.ID, *o.Rank, o.state)
		}
	}
	hold(j.lanes, l.Lane, l)
}

// keeps reports whether a task keeps the higher ranks of its lane waiting: while it
// lives, and after it failed until it is retried or skipped. A task of a rollout does so
// from the start of the rollout on, and a failed one no longer does once the rollout was
// given up.
func (j *judge) keeps(l *life) bool {
	if l.state == "" || l.Rollout != "" && j.rollouts[l.Rollout] == "" {
		return false
	}
	return !terminal(l.state) || l.state == "failed" && j.rollouts[l.Rollout] != "aborted"
}

func (j *judge) enterPool(l *life) {
	if l.Pool == "" {
		return
	}
	hold(j.pools, l.Pool, l)
	if size, limited := j.sizes[l.Pool]; limited && len(j.pools[l.Pool]) > size {
		j.find(rulePool, l.ID, "pool %s holds %d, its size is %d", l.Pool, len(j.pools[l.Pool]), size)
	}
}

func hold(keys map[string]map[string]*life, key string, l *life) {
	if keys[key] == nil {
		keys[key] = map[string]*life{}
	}
	keys[key][l.ID] = l
}

// pool records a change of a pool's size.
func (j *judge) pool(v *Event) {
	if size, ok := v.Data["size"].(float64); ok && v.Type == "set" {
		j.sizes[v.Subject] = int(size)
	} else {
		delete(j.sizes, v.Subject)
	}
}

// term judges that epochs only rise.
func (j *judge) term(v *Event) {
	epoch, _ := v.Data["epoch"].(float64)
	if int64(epoch) <= j.epochs[v.Subject] {
		j.find(ruleEpoch, "", "epoch %d of %s begins after epoch %d", int64(epoch), v.Subject, j.epochs[v.Subject])
	}
	j.epochs[v.Subject] = int64(epoch)
}

// writes judges that no leader acts after the next one has acted.
func (j *judge) writes() {
	var newest LeaderWrite
	for _, w := range j.Writes {
		if w.Epoch < newest.Epoch {
			j.find(ruleEpoch, "", "write %d of %s has epoch %d, after %s wrote with epoch %d", w.Seq, w.Holder, w.Epoch, newest.Holder, newest.Epoch)
			continue
		}
		newest = w
	}
}
