package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

func TestSearch(t *testing.T) {
	db := testdb.New(t)
	s := New(db.Pool)
	do(t, db, `select weir.set_pool('render', 1)`, `select weir.register_node('render-1')`, `select weir.register_worker('render-1-a', '{render.frame}', 'render-1')`,
		`select weir.set_schedule('render nightly', '@daily', '{"service": "render.frame"}', clock_timestamp() + interval '1 day')`,
		`select weir.submit_job('[{"service": "render.frame", "key": "frame-1"}]', 'render of 100 %')`,
		`select weir.submit_job('[{"service": "render.frame", "key": "frame-2"}]', 'Übung')`,
		`select weir.rollout_put_database('stock-eu', 'postgres', 'test', 'NONE')`,
		`select weir.rollout_create(jsonb_build_object('name', 'stock 2026', 'stages', '[{"name": "test"}]'::jsonb, 'changes', jsonb_build_array(jsonb_build_object('name', 'x', 'kind', 'ddl', 'checksum', s.sum))), jsonb_build_object(s.sum, 'select 1'))
			from (select encode(sha256('select 1'), 'hex') as sum) s`)
	rollout := ask[weir.ID](t, db, `select job from weir.rollouts`)
	task := ask[weir.ID](t, db, `select id from weir.tasks where key = 'frame-1'`)
	job := ask[weir.ID](t, db, `select id from weir.jobs where name like 'render%'`)
	for text, want := range map[string][]string{
		"render":                            {"job render of 100 % running", "service render.frame ", "node render-1 live", "worker render-1-a live", "pool render ", "schedule render nightly "},
		" render-1-a ":                      {"worker render-1-a live"},
		"render of 100 %":                   {"job render of 100 % running"},
		"render of 100 % and on":            nil,
		"Üb":                                {"job Übung running"},
		"frame-1":                           {"task frame-1 available"},
		"frame":                             nil,
		"%":                                 nil,
		"_ender":                            nil,
		"' or 1=1":                          nil,
		"a\x00b\xff":                        nil,
		"":                                  nil,
		"   ":                               nil,
		"stock":                             {"rollout stock 2026 not_started", "database stock-eu "},
		"stock-e":                           {"database stock-eu "},
		rollout.String():                    {"rollout stock 2026 not_started"},
		rollout.String()[24:]:               {"rollout stock 2026 not_started"},
		task.String():                       {"task frame-1 available"},
		strings.ToUpper(task.String()[24:]): {"task frame-1 available"},
		job.String()[20:]:                   {"job render of 100 % running"},
		"000000000000":                      nil,
		weir.ID{1}.String():                 nil,
	} {
		hits, err := s.Search(t.Context(), text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.Kind+" "+h.Name+" "+h.State)
			if (h.Kind == "task" || h.Kind == "job" || h.Kind == "rollout") == h.ID.IsZero() {
				t.Errorf("%q: %+v", text, h)
			}
		}
		// A node is dead when it was not seen for half a minute, and a test may stand still.
		for i := range got {
			got[i] = strings.Replace(got[i], " dead", " live", 1)
		}
		for i := range got {
			got[i] = strings.Replace(got[i], "node render-1 active", "node render-1 live", 1)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// A search returns a handful of each kind.
func TestSearchIsShort(t *testing.T) {
	db := testdb.New(t)
	do(t, db, `select weir.set_pool('x' || i, 1) from generate_series(1, 30) i`, `select weir.register_node('x' || i) from generate_series(1, 30) i`,
		`select weir.submit_job('[{"service": "x", "key": "x"}]', 'x' || i) from generate_series(1, 30) i`, `select weir.submit('x' || i) from generate_series(1, 30) i`)
	hits, err := New(db.Pool).Search(t.Context(), "x")
	if err != nil || len(hits) != hitsMost {
		t.Fatalf("%d hits, %v", len(hits), err)
	}
	kinds := map[string]int{}
	for _, h := range hits {
		kinds[h.Kind]++
	}
	for kind, n := range kinds {
		if n > hitsEach {
			t.Errorf("%d of kind %s", n, kind)
		}
	}
}
