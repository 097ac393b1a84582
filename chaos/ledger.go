package chaos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Entry is a line of the ledger, in which every step of a storm records that it begins,
// that it lives, and how it ends. Each line is one write to the end of one file, so their
// order is the order of events.
type Entry struct {
	What, Task string
	Attempt    int
	Fence      string
	PID        int
}

// ReadLedger reads all lines.
func ReadLedger(r io.Reader) ([]Entry, error) {
	var all []Entry
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var e Entry
		if _, err := fmt.Sscan(lines.Text(), &e.What, &e.Task, &e.Attempt, &e.Fence, &e.PID); err != nil {
			return nil, fmt.Errorf("line %d of the ledger, %q: %w", len(all)+1, lines.Text(), err)
		}
		all = append(all, e)
	}
	return all, nil
}

// Ran is the engine's record of a done task.
type Ran struct {
	Task, Key string
	Attempt   int
	// Result is what the winning attempt reported about itself.
	Result json.RawMessage
}

// effect is what a step reports about itself as its result.
type effect struct {
	Attempt int    `json:"attempt"`
	Token   string `json:"token"`
	PID     int    `json:"pid"`
}

// trace is what one attempt left in the ledger.
type trace struct {
	fence      string
	pid, lines int
	ended      bool
}

// JudgeLedger compares what steps did with what the engine recorded: no attempt shows
// life after a later one has begun, none runs twice, and the result is that of the
// attempt that won and came to its end.
func JudgeLedger(entries []Entry, done []Ran) []Finding {
	var found []Finding
	find := func(rule, task, format string, args ...any) {
		found = append(found, Finding{rule, task, fmt.Sprintf(format, args...)})
	}
	traces, newest := map[lease]*trace{}, map[string]int{}
	for n, e := range entries {
		at := lease{e.Task, e.Attempt}
		t := traces[at]
		if t == nil {
			t = &trace{fence: e.Fence, pid: e.PID}
			traces[at] = t
		}
		t.lines++
		t.ended = t.ended || e.What == "end"
		switch {
		case t.fence != e.Fence || t.pid != e.PID || e.What == "begin" && t.lines > 1:
			find(ruleTwice, e.Task, "attempt %d was started twice: process %d and process %d", e.Attempt, t.pid, e.PID)
		case e.Attempt < newest[e.Task]:
			find(ruleOverlap, e.Task, "attempt %d still lives (%s, line %d) after attempt %d has begun", e.Attempt, e.What, n+1, newest[e.Task])
		}
		newest[e.Task] = max(newest[e.Task], e.Attempt)
	}
	for _, r := range done {
		won, said := traces[lease{r.Task, r.Attempt}], effect{}
		switch err := json.Unmarshal(r.Result, &said); {
		case err != nil:
			find(ruleTerminal, r.Task, "%s: its result %s is not what a step says", r.Key, r.Result)
		case won == nil:
			find(ruleRun, r.Task, "%s: done by attempt %d, which never ran", r.Key, r.Attempt)
		case !won.ended:
			find(ruleRun, r.Task, "%s: done by attempt %d, which never came to its end", r.Key, r.Attempt)
		case said != effect{r.Attempt, won.fence, won.pid}:
			find(ruleTerminal, r.Task, "%s: attempt %d of process %d won, the result is that of attempt %d of process %d", r.Key, r.Attempt, won.pid, said.Attempt, said.PID)
		case newest[r.Task] > r.Attempt:
			find(ruleTerminal, r.Task, "%s: attempt %d ran although attempt %d won", r.Key, newest[r.Task], r.Attempt)
		}
	}
	return found
}
