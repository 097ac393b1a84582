package node

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/weirhq/weir"
)

// Notes of many attempts are one transaction. Each counts for the lease it names: that of an
// earlier attempt, or with another token, is refused, and recorded once as stale.
func TestNotesAreWrittenTogether(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ctx := t.Context()
	for range 3 {
		r.submit()
	}
	first, two, three := r.claim(), r.claim(), r.claim()
	wrong, early := three.Holds(), three.Holds()
	wrong.Token = weir.ID{1}.String()
	early.Attempt = 7
	notes := []Note{
		{Lease: first.Holds(), Type: "progress", Data: json.RawMessage(`{"percent": 1}`)},
		{Lease: two.Holds(), Type: "note", Level: "warn", Message: "careful"},
		{Lease: wrong, Type: "note", Message: "not mine"},
		{Lease: early, Type: "note", Message: "not mine"},
		{Lease: early, Type: "note", Message: "not mine either"},
		{Lease: first.Holds(), Type: "progress", Data: json.RawMessage(`{"percent": 2}`)},
	}
	refused, err := r.Record(ctx, notes)
	r.ok(err)
	if len(refused) != 2 || slices.ContainsFunc(refused, func(x Refusal) bool { return x.Refusal != LeaseLost || x.Task != three.Task }) {
		t.Errorf("refused: %+v", refused)
	}
	if got := one[string](r, `select string_agg(concat_ws(' ', type, level, message, data ->> 'percent'), ', ' order by seq) from weir.events where type in ('note', 'progress')`); got !=
		"progress 1, note warn careful, progress 2" {
		t.Errorf("written: %s", got)
	}
	if n := one[int](r, `select count(distinct xmin::text) from weir.events where type in ('note', 'progress', 'stale')`); n != 1 {
		t.Errorf("%d transactions", n)
	}
	if n := one[int](r, `select count(*) from weir.events where type = 'stale'`); n != 2 {
		t.Errorf("%d calls are recorded as stale", n)
	}

	// A note that the database refuses leaves the others.
	_, err = r.Record(ctx, []Note{{Lease: first.Holds(), Type: "done"}, {Lease: two.Holds(), Type: "kept"}})
	if err == nil {
		t.Error("a note has the name of a transition")
	}
	if got := one[string](r, `select string_agg(type, ' ') from weir.events where type in ('done', 'kept')`); got != "kept" {
		t.Errorf("written: %s", got)
	}
}
