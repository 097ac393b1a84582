package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// checkLimit bounds the search for one task. A search that reaches it is a finding too,
// because it showed nothing.
const checkLimit = 10 * time.Second

// Linearize is layer 2: it checks for each task whether the answers can be explained.
func (e *Evidence) Linearize() []Finding {
	var found []Finding
	for task, ops := range e.perTask() {
		history := make([]porcupine.Operation, len(ops))
		for i, op := range ops {
			history[i] = porcupine.Operation{ClientId: i, Input: op, Call: op.Call, Return: op.Return}
		}
		switch porcupine.CheckOperationsTimeout(taskModel, history, checkLimit) {
		case porcupine.Ok:
		case porcupine.Illegal:
			found = append(found, Finding{ruleAnswer, task, "no order of these calls explains their answers:\n" + tell(ops)})
		default:
			found = append(found, Finding{ruleAnswer, task, fmt.Sprintf("no verdict on %d calls within %s", len(ops), checkLimit)})
		}
	}
	return found
}

func tell(ops []Op) string {
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b Op) int { return int(a.Call/1000 - b.Call/1000) })
	lines := make([]string, len(ops))
	for i, op := range ops {
		lines[i] = op.describe(ops[0].Call)
	}
	return strings.Join(lines, "\n")
}

// perTask sorts the history by task and adds what clients could not see: the tasks of
// claims without an answer, and the moves that no client called for.
func (e *Evidence) perTask() map[string][]Op {
	byTask := map[string][]Op{}
	keys := map[string]string{}
	for id, t := range e.Tasks {
		if t.Key != "" {
			keys[t.Key] = id
		}
	}
	for _, op := range e.History {
		switch op.Op {
		case "submit":
			if op.Task == "" {
				op.Task = keys[op.Key]
			}
		case "finish", "fail", "confirm_cancel", "renew", "cancel":
		case "read":
			op.Value = strings.NewReplacer("pending", "queued", "available", "queued").Replace(op.Value)
		default:
			continue
		}
		if op.Task != "" && !(op.Op == "read" && op.Out != OK) {
			byTask[op.Task] = append(byTask[op.Task], op)
		}
	}
	for _, op := range e.claims() {
		byTask[op.Task] = append(byTask[op.Task], op)
	}
	for _, op := range e.unasked() {
		byTask[op.Task] = append(byTask[op.Task], op)
	}
	return byTask
}

// claims joins the repetitions of each claim into one call per lease. A claim that was
// never answered may be behind every claim of its worker in the timeline that no answer
// explains.
func (e *Evidence) claims() []Op {
	type taken struct {
		key string
		lease
	}
	began := map[string]int64{}
	known := map[taken]Op{}
	explained := map[lease]bool{}
	unanswered := map[string][]Op{}
	for _, op := range e.History {
		if op.Op != "claim" {
			continue
		}
		if _, again := began[op.Key]; !again {
			began[op.Key] = op.Call
		}
		if op.Out != OK || op.Task == "" {
			continue
		}
		at := taken{op.Key, op.lease()}
		if _, again := known[at]; !again {
			op.Call = began[op.Key]
			known[at] = op
			explained[op.lease()] = true
		}
	}
	for _, op := range e.History {
		if op.Op == "claim" && op.Out == Unknown && op.Call == began[op.Key] {
			unanswered[op.Client] = append(unanswered[op.Client], op)
		}
	}
	var ops []Op
	for _, op := range known {
		ops = append(ops, op)
	}
	for _, v := range e.Events {
		if v.Type != "claimed" || explained[lease{v.Task, v.Attempt}] {
			continue
		}
		for _, op := range unanswered[e.Workers[v.Worker]] {
			// A late answer may list less than the claim took, because tasks ended in the
			// meantime.
			op.Task, op.Attempt, op.Token, op.Return = v.Task, v.Attempt, op.Key, Never
			if op.Call <= v.At.UnixNano()+int64(time.Millisecond) {
				ops = append(ops, op)
			}
		}
	}
	return ops
}

// unasked returns the moves that no call explains: ends of leases, and moves of silent
// workers. They happened some time after the event's time.
func (e *Evidence) unasked() []Op {
	asked := map[lease]bool{}
	for _, op := range e.History {
		switch op.Op {
		case "finish", "fail", "confirm_cancel":
			if op.accepted() || op.Value == "repeated" || op.Out == Unknown {
				asked[op.lease()] = true
			}
		}
	}
	var ops []Op
	for _, v := range e.Events {
		silent := e.Silent[e.Workers[v.Worker]]
		op := Op{Client: "engine", Op: v.Type, Task: v.Task, Attempt: v.Attempt, Call: v.At.Add(-time.Microsecond).UnixNano(), Return: Never, Out: OK}
		switch {
		case v.Task == "" || v.Kind != "":
			continue
		case v.Type == "expired" || v.Type == "retried" || v.Type == "skipped":
		case (v.Type == "submitted" || v.Type == "gated") && e.Tasks[v.Task] != nil && e.Tasks[v.Task].Key == "":
			op.Op, op.Value = "submit", "ok" // a task of a job
		case (v.Type == "failed" || v.Type == "canceled" || v.Type == "retrying") && v.Worker != 0 && (silent || !asked[lease{v.Task, v.Attempt}]):
		case silent && (v.Type == "done" || v.Type == "returned" || v.Type == "claimed"):
			if v.Type == "claimed" {
				op.Op = "claim"
			}
		default:
			continue
		}
		ops = append(ops, op)
	}
	return ops
}
