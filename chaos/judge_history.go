package chaos

import (
	"strings"
	"time"
)

// lostWorker reports whether a task failed because its worker was lost: the lease ended
// by time, not by a call.
func (j *judge) lostWorker(v *Event) bool {
	return strings.HasPrefix(v.Message, "poison: ") || strings.Contains(v.Message, " was lost while it ran this")
}

// grantsOf returns the calls that gave or extended each lease. A repeated claim is not
// one of them: it returns the lease of the first one, which is older.
func grantsOf(history []Op) map[lease][]Op {
	first := map[string]int{}
	grants := map[lease][]Op{}
	for _, op := range history {
		switch op.Op {
		case "claim":
			if n, again := first[op.Key]; again && n != op.N {
				continue
			}
			first[op.Key] = op.N
		case "renew":
			if op.Value == "lease_lost" {
				continue
			}
		default:
			continue
		}
		if op.Out == OK {
			grants[op.lease()] = append(grants[op.lease()], op)
		}
	}
	return grants
}

// expired judges that a lease was over when it was ended. The engine's clock and the
// parent's are the same here, and a lease counts from a moment after the call.
func (j *judge) expired(l *life, v *Event) {
	for _, op := range j.grants[lease{l.ID, l.attempt}] {
		left := time.Duration(op.Call + int64(op.Lease) - v.At.UnixNano())
		if op.Return < v.At.UnixNano() && left > 0 {
			j.find(ruleExpiry, l.ID, "attempt %d was ended %s before its time (%s by %s)", l.attempt, left, op.Op, op.Client)
			return
		}
	}
}

// crossCheck compares the answers that clients got with the database.
func (j *judge) crossCheck() {
	submitted := map[string]string{}
	for id, t := range j.Tasks {
		if t.Key != "" {
			submitted[t.Key] = id
		}
	}
	tokens := j.tokens()
	ran := map[lease]bool{}
	asked := map[lease]bool{}
	refused := map[string]int{}
	for _, op := range j.History {
		switch {
		case op.Op == "sent_time":
			j.find(ruleClock, "", "%s sent a time with %s", op.Client, op.Key)
		case op.Op == "submit" && op.Out == OK && submitted[op.Key] != op.Task:
			j.find(ruleLost, op.Task, "its submission was acknowledged (key %s), the database has %q", op.Key, submitted[op.Key])
		case op.Op == "submit_job" && op.Out == OK && j.Jobs[op.Key] != op.Value:
			j.find(ruleLost, "", "job %s was acknowledged (key %s), the database has %q", op.Value, op.Key, j.Jobs[op.Key])
		case op.Op == "claim" && op.Task != "":
			j.onTime(op)
		case op.Op == "run":
			j.onTime(op)
			ran[op.lease()] = true
		case op.Op == "finish" || op.Op == "fail" || op.Op == "renew" || op.Op == "confirm_cancel":
			asked[op.lease()] = true
			if want, known := tokens[op.lease()]; known && op.accepted() && want != op.Token {
				j.find(ruleFence, op.Task, "%s of %s was accepted for attempt %d with token %s, the lease has %s", op.Op, op.Client, op.Attempt, short(op.Token), short(want))
			}
			if op.Out == OK && op.Value == "lease_lost" {
				refused[op.Task+op.Op]++
			}
		}
		if op.Out == Fail && unexpected(op.Err) {
			j.find(ruleError, op.Task, "%s of %s: %s", op.Op, op.Client, op.Err)
		}
	}
	j.acknowledged()
	j.recorded(refused)
	for _, v := range j.Events {
		if v.Type != "done" || v.Task == "" || j.Silent[j.who(v.Worker)] {
			continue
		}
		at := lease{v.Task, v.Attempt}
		if !ran[at] {
			j.find(ruleRun, v.Task, "done by attempt %d, which never ran", v.Attempt)
		}
		if !asked[at] {
			j.find(ruleFence, v.Task, "done by attempt %d, but nobody asked for it", v.Attempt)
		}
	}
}

// tokens returns those of the claims that were answered.
func (j *judge) tokens() map[lease]string {
	tokens := map[lease]string{}
	for _, op := range j.History {
		if op.Op == "claim" && op.Out == OK && op.Task != "" {
			tokens[op.lease()] = op.Token
		}
	}
	return tokens
}

// acknowledged judges that tasks ended as their clients were told (R1).
func (j *judge) acknowledged() {
	done := map[lease]bool{}
	for _, v := range j.Events {
		if v.Type == "done" && v.Task != "" {
			done[lease{v.Task, v.Attempt}] = true
		}
	}
	for _, op := range j.History {
		if op.Op == "finish" && op.Out == OK && (op.Value == "ok" || op.Value == "repeated") && !done[op.lease()] {
			j.find(ruleLost, op.Task, "%s was told that attempt %d is done (%s), the timeline does not know it", op.Client, op.Attempt, op.Value)
		}
	}
}

// recorded judges that each refusal is in the timeline.
func (j *judge) recorded(refused map[string]int) {
	for _, v := range j.Events {
		if v.Type == "stale" {
			refused[v.Task+text(v.Data["op"])]--
		}
	}
	for key, missing := range refused {
		if missing > 0 {
			j.find(ruleRecord, key[:36], "%d refusals of %s are not in the timeline", missing, key[36:])
		}
	}
}

// unexpected reports whether no injected fault explains an error: the server answered,
// and not with one of the engine's own refusals. 25P03 is how the server ends the
// transaction of a leader that was paused inside it.
func unexpected(err string) bool {
	if !strings.Contains(err, "SQLSTATE") || strings.Contains(err, "failed to connect") {
		return false
	}
	for _, fine := range []string{"SQLSTATE WR", "SQLSTATE 57", "SQLSTATE 08", "SQLSTATE 53300", "SQLSTATE 25P03"} {
		if strings.Contains(err, fine) {
			return false
		}
	}
	return true
}
