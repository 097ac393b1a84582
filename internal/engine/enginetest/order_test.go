package enginetest

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testwait"
)

// TestR8ReadersSeeATaskInOrder: a transaction that had its id before a task was
// submitted, or asked to stop, goes on with that task. A reader sees what it did
// behind what it followed.
func TestR8ReadersSeeATaskInOrder(t *testing.T) {
	t.Parallel()
	e := start(t)
	// read is the life of a task as a reader sees it who follows with small steps.
	read := func(task string) string {
		var types []string
		for cursor := "0.0"; ; {
			page := all[struct{ Cursor, Type, Task string }](e, `select cursor, type, coalesce(task::text, '') from weir.events_after($1, 1)`, cursor)
			if len(page) == 0 {
				return strings.Join(types, " ")
			}
			for _, x := range page {
				if cursor = x.Cursor; x.Task == task {
					types = append(types, x.Type)
				}
			}
		}
	}
	settled := func() {
		testwait.Until(t, "all can be read", func() bool {
			return one[bool](e, `select coalesce(max(xid), 0) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint from weir.events`)
		})
	}

	early := e.transaction()
	in[string](e, early, `select pg_current_xact_id()::text`)
	id := one[string](e, `select weir.submit('s')::text`)
	in[string](e, early, `select weir.finish(c.task, c.attempt, c.token) from weir.claim('w', '{s}') c`)
	e.commit(early)
	settled()
	if got := read(id); got != "submitted claimed done" {
		t.Errorf("a reader sees %q", got)
	}

	// One that waits for the row looks again once it has it, also within its statement.
	id = one[string](e, `select weir.submit('s')::text`)
	lease := one[string](e, `select format('%L, %s, %L', task, attempt, token) from weir.claim('w', '{s}')`)
	s := e.newSessions(2)
	run := func(i int, statements ...string) {
		t.Helper()
		for _, sql := range statements {
			s[i].send(sql)
			if err := s[i].result(); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
	run(0, `begin`, `select pg_current_xact_id()`)
	run(1, `begin`, `select weir.cancel('`+id+`')`)
	s[0].send(`select weir.finish(` + lease + `)`)
	testwait.Every(t, glance, "the end waits", func() bool { return s[0].ready() || s[0].blocked() })
	if s[0].ready() {
		t.Fatal("nobody waits: nothing was tested")
	}
	run(1, `commit`)
	if err := s[0].result(); err != nil {
		t.Fatal(err)
	}
	run(0, `commit`)
	settled()
	if got := read(id); got != "submitted claimed cancel_requested done" {
		t.Errorf("a reader sees %q", got)
	}
}
