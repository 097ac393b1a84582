package weir_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
)

// The state machine is a table of the database; this package mirrors it.
func TestTransitionsMirrorTheDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rows, err := w.Pool.Query(t.Context(), `select coalesce(was::text, ''), event, becomes::text from weir.transition`)
	if err != nil {
		t.Fatal(err)
	}
	database, err := pgx.CollectRows(rows, pgx.RowToStructByPos[weir.Transition])
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range database {
		if !slices.Contains(weir.Transitions, line) {
			t.Errorf("only the database has %+v", line)
		}
	}
	for _, line := range weir.Transitions {
		if !slices.Contains(database, line) {
			t.Errorf("only Go has %+v", line)
		}
	}
	becomes := map[string]weir.State{}
	for _, line := range weir.Transitions {
		if was, ok := becomes[line.Event]; ok && was != line.Becomes {
			t.Errorf("event %s leads to %s and to %s", line.Event, was, line.Becomes)
		}
		becomes[line.Event] = line.Becomes
		if line.Was.Ended() && line.Event != "retried" && line.Event != "skipped" {
			t.Errorf("a task leaves its end: %+v", line)
		}
	}
}
