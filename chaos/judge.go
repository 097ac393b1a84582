package chaos

import (
	"fmt"
	"time"
)

// judge walks the timeline and tracks the state at each instant.
type judge struct {
	*Evidence
	lives map[string]*life
	// lanes and pools are the tasks that hold them; members are those that belong to
	// ranked lanes.
	lanes, pools map[string]map[string]*life
	members      map[string][]*life
	sizes        map[string]int
	// rollouts is the last decision about each rollout: it was started, or aborted.
	rollouts map[string]string
	epochs   map[string]int64
	grants   map[lease][]Op
	// due is the time before which an attempt must not begin.
	due   map[lease]time.Time
	found []Finding
}

// life is one task at one instant.
type life struct {
	*Task
	state   string
	attempt int
	worker  int
	// ends counts terminal moves that were not taken back.
	ends      int
	winner    int
	runAt     time.Time
	claimedAt time.Time
}

// Judge is layer 1: it checks the invariants over the timeline, the tables and the
// history.
func (e *Evidence) Judge() []Finding {
	j := &judge{
		Evidence: e, lives: map[string]*life{}, lanes: map[string]map[string]*life{}, pools: map[string]map[string]*life{},
		members: map[string][]*life{}, sizes: map[string]int{}, rollouts: map[string]string{}, epochs: map[string]int64{}, grants: grantsOf(e.History), due: map[lease]time.Time{},
	}
	for id, t := range e.Tasks {
		l := &life{Task: t}
		if t.RunAt != nil {
			l.runAt = *t.RunAt
		}
		j.lives[id] = l
		if t.Lane != "" && t.Rank != nil {
			j.members[t.Lane] = append(j.members[t.Lane], l)
		}
	}
	for i := range e.Events {
		switch v := &e.Events[i]; {
		case v.Kind == "pool":
			j.pool(v)
		case v.Kind == "rollout" && (v.Type == "started" || v.Type == "aborted"):
			j.rollouts[v.Subject] = v.Type
		case v.Kind == "lock":
			j.term(v)
		case v.Kind == "" && v.Task != "":
			j.step(v)
		}
	}
	for _, l := range j.lives {
		j.end(l)
	}
	j.writes()
	j.crossCheck()
	return j.found
}

func (j *judge) find(rule, task, format string, args ...any) {
	j.found = append(j.found, Finding{rule, task, fmt.Sprintf(format, args...)})
}

// step judges one event of one task and moves the task.
func (j *judge) step(v *Event) {
	l := j.lives[v.Task]
	if l == nil {
		j.find(ruleLost, v.Task, "the timeline tells of it (%s), but there is no such task", v.Type)
		return
	}
	becomes, legal := j.Moves[Move{l.state, v.Type}]
	if !legal && !j.isMove(v.Type) {
		return // a note, such as a progress or a refusal
	}
	switch {
	case v.Type == "claimed" && l.state == "running":
		j.find(ruleLease, v.Task, "attempt %d is claimed by %s while attempt %d of %s is live", v.Attempt, j.who(v.Worker), l.attempt, j.who(l.worker))
	case terminal(l.state) && v.Type != "retried" && v.Type != "skipped":
		j.find(ruleTerminal, v.Task, "%s after it ended as %s", v.Type, l.state)
	case !legal:
		j.find(ruleTimeline, v.Task, "%s while it is %s", v.Type, name(l.state))
	}
	if !legal {
		becomes = j.target(v.Type)
	}
	if l.state == "running" && v.Type != "claimed" && (v.Attempt != l.attempt || v.Worker != l.worker) {
		j.find(ruleFence, v.Task, "%s by attempt %d of %s, but attempt %d of %s has the lease", v.Type, v.Attempt, j.who(v.Worker), l.attempt, j.who(l.worker))
	}
	if v.Type == "claimed" && v.Attempt != l.attempt+1 {
		j.find(ruleAttempt, v.Task, "attempt %d claimed after attempt %d", v.Attempt, l.attempt)
	}
	j.gates(l, v)
	j.move(l, v, becomes)
}

// move makes the move, legal or not, so that the walk can continue.
func (j *judge) move(l *life, v *Event, becomes string) {
	switch v.Type {
	case "claimed":
		l.attempt, l.worker, l.claimedAt = v.Attempt, v.Worker, v.At
	case "retrying", "snoozed":
		if at, err := time.Parse(time.RFC3339Nano, text(v.Data["run_at"])); err == nil {
			l.runAt = at
		}
	case "retried":
		l.ends, l.runAt = 0, time.Time{}
	case "expired":
		j.expired(l, v)
	case "failed":
		if l.state == "running" && j.lostWorker(v) {
			j.expired(l, v)
		}
	}
	if terminal(becomes) {
		l.ends++
		l.winner = v.Attempt
	}
	l.state = becomes
}

// end compares the last instant with the tables.
func (j *judge) end(l *life) {
	switch {
	case l.state == "":
		j.find(ruleTimeline, l.ID, "it is %s, but the timeline never mentions it", l.State)
	case l.state != l.State:
		j.find(ruleTimeline, l.ID, "it is %s, the timeline says %s", l.State, l.state)
	}
	if l.ends > 1 {
		j.find(ruleTerminal, l.ID, "%d terminal moves", l.ends)
	}
	if terminal(l.State) && l.Attempt != l.winner {
		j.find(ruleTerminal, l.ID, "ended by attempt %d, the timeline says attempt %d", l.Attempt, l.winner)
	}
	if l.State == "done" && l.Result != nil && l.Result.Attempt != l.Attempt {
		j.find(ruleTerminal, l.ID, "attempt %d won, but the result is that of attempt %d", l.Attempt, l.Result.Attempt)
	}
	if j.Drained && !terminal(l.State) {
		j.find(ruleDrain, l.ID, "still %s", l.State)
	}
}

// isMove reports whether any state has a move of this name.
func (j *judge) isMove(event string) bool { return j.target(event) != "" }

// target returns the state that an event leads to, which is the same wherever it starts.
func (j *judge) target(event string) string {
	for m, becomes := range j.Moves {
		if m.Event == event {
			return becomes
		}
	}
	return ""
}

func (j *judge) who(worker int) string {
	if n, ok := j.Workers[worker]; ok {
		return n
	}
	return "nobody"
}

func terminal(state string) bool {
	return state == "done" || state == "failed" || state == "canceled" || state == "skipped"
}

func name(state string) string {
	if state == "" {
		return "not yet submitted"
	}
	return state
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
