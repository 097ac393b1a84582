package view

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// pages reads the whole timeline in pages of so many lines.
func pages(t *testing.T, s *Store, f TimelineFilter, limit int) (lines []string) {
	t.Helper()
	for before, n := "", 0; ; n++ {
		events, next, err := s.Timeline(t.Context(), f, before, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) > limit || n > 1000 {
			t.Fatalf("page %d has %d lines", n, len(events))
		}
		for _, e := range events {
			lines = append(lines, fmt.Sprintf("%d %s %s", e.Seq, e.Type, e.Task))
		}
		if next == "" {
			return lines
		}
		before = next
	}
}

// Backwards and page by page gives what forwards and at once gives, through
// batches that are larger than a page.
func TestTimelineBackwards(t *testing.T) {
	db := testdb.New(t)
	s := New(db.Pool)
	do(t, db, `select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's')), false) from generate_series(1, 23)`,
		`select weir.submit_many(jsonb_agg(jsonb_build_object('service', 's')), false) from generate_series(1, 4)`,
		`select weir.finish_many(array_agg(task), array_agg(attempt), array_agg(token)) from weir.claim('w', '{s}', 20)`,
		`select weir.fail(task, attempt, token, 'no') from weir.claim('w', '{s}', 2)`)
	db.Settle(t)
	forwards, err := s.EventsAfter(t.Context(), "0.0", weir.ID{}, weir.ID{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range forwards {
		want = append(want, fmt.Sprintf("%d %s %s", e.Seq, e.Type, e.Task))
	}
	slices.Reverse(want)
	if len(want) < 23+4+20+20+2+2 {
		t.Fatalf("only %d lines", len(want))
	}
	for _, limit := range []int{1, 2, 3, 7, 22, 23, 24, 1000} {
		if got := pages(t, s, TimelineFilter{}, limit); !slices.Equal(got, want) {
			t.Errorf("pages of %d: %d lines, want %d", limit, len(got), len(want))
		}
	}
	// What a filter leaves out does not change the rest.
	claimed := slices.DeleteFunc(slices.Clone(want), func(line string) bool { return !slices.Contains([]string{"claimed"}, word(line, 1)) })
	for _, limit := range []int{1, 5, 100} {
		if got := pages(t, s, TimelineFilter{Type: "claimed"}, limit); !slices.Equal(got, claimed) {
			t.Errorf("claimed in pages of %d: %d lines, want %d", limit, len(got), len(claimed))
		}
	}
}

// word is the n-th word of a line.
func word(line string, n int) string {
	var words [3]string
	_, _ = fmt.Sscan(line, &words[0], &words[1], &words[2])
	return words[n]
}

func TestTimelineFilters(t *testing.T) {
	db := testdb.New(t)
	s := New(db.Pool)
	do(t, db, `select weir.set_pool('p', 1)`, `select weir.register_node('n')`, `select weir.set_node_mode('n', 'draining')`,
		`select weir.submit_job('[{"service": "s", "key": "a", "max_attempts": 2}, {"service": "s", "key": "b", "needs": ["a"]}]', 'j')`,
		`select weir.submit('s')`,
		`select weir.fail(task, attempt, token, 'no', retry_at => clock_timestamp() + interval '1 h') from weir.claim('w', '{s}', 1)`)
	job := ask[weir.ID](t, db, `select id from weir.jobs`)
	task := ask[weir.ID](t, db, `select id from weir.tasks where key = 'a'`)
	for name, c := range map[string]struct {
		filter TimelineFilter
		want   []string
	}{
		"kind of machines":    {TimelineFilter{Kind: "node"}, []string{"draining", "registered"}},
		"kind and subject":    {TimelineFilter{Kind: "node", Subject: "n"}, []string{"draining", "registered"}},
		"another subject":     {TimelineFilter{Kind: "node", Subject: "m"}, nil},
		"subject alone":       {TimelineFilter{Subject: "n"}, []string{"draining", "registered"}},
		"kind and type":       {TimelineFilter{Kind: "node", Type: "registered"}, []string{"registered"}},
		"level":               {TimelineFilter{Level: "warn"}, []string{"retrying"}},
		"level and type":      {TimelineFilter{Level: "warn", Type: "stale"}, nil},
		"job":                 {TimelineFilter{Job: job}, []string{"retrying", "claimed", "submitted", "gated", "submitted"}},
		"the job's own":       {TimelineFilter{Job: job, Kind: "job"}, []string{"submitted"}},
		"task":                {TimelineFilter{Task: task}, []string{"retrying", "claimed", "submitted"}},
		"task as a subject":   {TimelineFilter{Kind: "task", Subject: task.String()}, []string{"retrying", "claimed", "submitted"}},
		"task and type":       {TimelineFilter{Task: task, Type: "claimed"}, []string{"claimed"}},
		"tasks":               {TimelineFilter{Kind: "task", Type: "gated"}, []string{"gated"}},
		"not tasks, not jobs": {TimelineFilter{NotKinds: []string{"task", "job", "worker"}}, []string{"draining", "registered", "set"}},
		"info":                {TimelineFilter{Level: "info", Job: job}, []string{"claimed", "submitted", "gated", "submitted"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int{1, 100} {
				var got []string
				for _, line := range pages(t, s, c.filter, limit) {
					got = append(got, word(line, 1))
				}
				if c.filter.Job == job { // the two events of one submission have no fixed order
					slices.Sort(got)
					slices.Sort(c.want)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("pages of %d: got %q, want %q", limit, got, c.want)
				}
			}
		})
	}
	for _, before := range []string{"x", "1.2", "1.2+0", "1.2+3 ", "-1.2+3", "1.2+3; drop", "01.2+3"} {
		if _, _, err := s.Timeline(t.Context(), TimelineFilter{}, before, 1); !errors.Is(err, weir.ErrInvalid) {
			t.Errorf("before %q: %v", before, err)
		}
	}
	if _, _, err := s.Timeline(t.Context(), TimelineFilter{Level: "loud"}, "", 1); !errors.Is(err, weir.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
