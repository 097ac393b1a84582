package chaos

import (
	"strings"
	"testing"
	"time"
)

// TestLinearize gives the model small histories by hand. Each line is a call
// from one instant to another, with its answer.
func TestLinearize(t *testing.T) {
	const task = "00000000-0000-7000-8000-000000000001"
	call := func(from, to int64, op string, attempt int, token, value string) Op {
		o := Op{Op: op, Client: "c", Task: task, Attempt: attempt, Token: token, Key: token, Call: from, Return: to, Out: OK, Value: value}
		if to == Never {
			o.Out, o.Value = Unknown, ""
		}
		return o
	}
	submit, claim := call(0, 1, "submit", 0, "", "ok"), call(2, 3, "claim", 1, "x", "ok")
	expired := Event{Type: "expired", Task: task, Attempt: 1, Worker: 1, At: time.Unix(0, 20_000)}
	for _, c := range []struct {
		name    string
		history []Op
		events  []Event
		ok      bool
	}{
		{"a plain life", []Op{submit, claim, call(4, 5, "renew", 1, "x", "ok"), call(6, 7, "finish", 1, "x", "ok")}, nil, true},
		{"done twice", []Op{submit, claim, call(4, 5, "finish", 1, "x", "ok"), call(6, 7, "finish", 1, "x", "ok")}, nil, false},
		{"the repeat of a report", []Op{submit, claim, call(4, 5, "finish", 1, "x", "ok"), call(6, 7, "finish", 1, "x", "repeated")}, nil, true},
		{"a report whose answer was lost, and its repeat", []Op{submit, claim, call(4, Never, "finish", 1, "x", ""), call(6, 7, "finish", 1, "x", "repeated")}, nil, true},
		{"a repeat of what never was", []Op{submit, claim, call(6, 7, "finish", 1, "x", "repeated")}, nil, false},
		{"two live leases", []Op{submit, claim, call(4, 5, "claim", 2, "y", "ok")}, nil, false},
		{"a second lease after the first ran out", []Op{submit, claim, call(30_000, 30_001, "claim", 2, "y", "ok")}, []Event{expired}, true},
		{"the first lease is heard after it ran out", []Op{submit, claim, call(30_000, 30_001, "claim", 2, "y", "ok"), call(30_002, 30_003, "finish", 1, "x", "ok")}, []Event{expired}, false},
		{"the first lease is refused after it ran out", []Op{submit, claim, call(30_000, 30_001, "claim", 2, "y", "ok"), call(30_002, 30_003, "finish", 1, "x", "lease_lost")}, []Event{expired}, true},
		{"a live lease is refused", []Op{submit, claim, call(4, 5, "renew", 1, "x", "lease_lost")}, nil, false},
		{"a wrong token is accepted", []Op{submit, claim, call(4, 5, "finish", 1, "z", "ok")}, nil, false},
		{"a read sees the past", []Op{submit, claim, call(4, 5, "finish", 1, "x", "ok"), call(6, 7, "read", 0, "", "running 1")}, nil, false},
		{"canceled while it waits, then claimed", []Op{submit, call(2, 3, "cancel", 0, "", "canceled"), call(4, 5, "claim", 1, "x", "ok")}, nil, false},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			e := &Evidence{Tasks: map[string]*Task{task: {ID: task, Key: "k"}}, Workers: map[int]string{1: "c"}, History: c.history, Events: c.events}
			if found := e.Linearize(); (len(found) == 0) != c.ok {
				t.Errorf("findings: %v, want none: %v", found, c.ok)
			}
		})
	}
}
