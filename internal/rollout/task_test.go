package rollout

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// Tasks come in pages in the order of the plan, whole and narrowed.
func TestTaskPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("test", "a", "b")
	r.register("prod", "c")
	x := r.started(Plan{Stages: []Stage{{Name: "test"}, {Name: "prod"}}, Changes: []script.Change{ddl(1), ddl(2), ddl(3)}})
	r.done(r.claim("test/a/1"))
	all := strings.Split("test/a/1 test/a/2 test/a/3 test/b/1 test/b/2 test/b/3 prod/c/1 prod/c/2 prod/c/3", " ")
	for name, c := range map[string]struct {
		filter TaskFilter
		want   []string
	}{
		"all":              {TaskFilter{}, all},
		"status":           {TaskFilter{Status: Done}, all[:1]},
		"stage":            {TaskFilter{Stage: "prod"}, all[6:]},
		"database":         {TaskFilter{Database: "b"}, all[3:6]},
		"key":              {TaskFilter{Key: "test/b/2"}, all[4:5]},
		"status and stage": {TaskFilter{Status: NotStarted, Stage: "prod"}, all[6:]},
		"none":             {TaskFilter{Stage: "nowhere"}, nil},
	} {
		for size := 1; size <= 4; size++ {
			var got []string
			for page := (view.Page{Limit: size}); ; {
				list, err := r.store.TaskPage(t.Context(), x.ID, c.filter, page)
				if err != nil {
					t.Fatal(err)
				}
				for _, task := range list {
					got = append(got, task.Key)
					page.After = task.ID.String()
				}
				if len(list) < size {
					break
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%s in pages of %d: %v", name, size, got)
			}
		}
	}
	if list, err := r.tasks(x); err != nil || len(list) != len(all) {
		t.Errorf("%d tasks: %v", len(list), err)
	}
	if _, err := r.store.TaskPage(t.Context(), weir.ID{1}, TaskFilter{}, view.Page{}); problem.Explain(err).Kind != problem.NotFound {
		t.Error(err)
	}
	y := r.create(Plan{Stages: []Stage{{Name: "test"}}, Changes: []script.Change{ddl(4)}})
	// A place in another rollout is none in this one.
	last := r.task(x.ID, "prod/c/3").ID.String()
	list, err := r.store.TaskPage(t.Context(), y.ID, TaskFilter{}, view.Page{After: last})
	if problem.Explain(err).Field != "after" {
		t.Errorf("%v %v", list, err)
	}
	if _, err := r.store.TaskPage(t.Context(), x.ID, TaskFilter{}, view.Page{After: "x"}); problem.Explain(err).Field != "after" {
		t.Error(err)
	}
	r.must(r.store.Abort(t.Context(), "bob", x.ID, ""))
	r.must(r.store.Abort(t.Context(), "bob", y.ID, ""))
}

// A page of a large rollout is read by looking at that page, on tables that nobody has
// analysed and with a plan that is made for any page.
func TestTaskPageReadsAPage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	names := make([]string, 40)
	for i := range names {
		names[i] = fmt.Sprintf("d%02d", i)
	}
	r.register("test", names...)
	changes := make([]script.Change, 50)
	for i := range changes {
		changes[i] = ddl(i + 1)
	}
	x := r.started(Plan{Stages: []Stage{{Name: "test"}}, Changes: changes, Parallel: 10})
	conn, err := r.db.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
		if _, err := conn.Exec(t.Context(), `set plan_cache_mode = `+mode); err != nil {
			t.Fatal(err)
		}
		var plan []struct {
			Plan map[string]any `json:"Plan"`
		}
		err := conn.QueryRow(t.Context(), `explain (analyze, format json) select `+rolloutTaskColumns+` `+taskPage, x.ID, nil, "", "", "", "", 20).Scan(&plan)
		if err != nil {
			t.Fatal(err)
		}
		if most := touched(plan[0].Plan); most > 100 {
			t.Errorf("%s: a page of 20 tasks looks at %.0f rows of one table", mode, most)
		}
	}
	if _, err := conn.Exec(t.Context(), `reset plan_cache_mode`); err != nil {
		t.Fatal(err)
	}
	r.must(r.store.Abort(t.Context(), "bob", x.ID, ""))
}

// touched is the most rows that one node of a plan read in all.
func touched(node map[string]any) float64 {
	number := func(key string) float64 { n, _ := node[key].(float64); return n }
	most := (number("Actual Rows") + number("Rows Removed by Filter")) * max(1, number("Actual Loops"))
	below, _ := node["Plans"].([]any)
	for _, one := range below {
		if sub, ok := one.(map[string]any); ok {
			most = max(most, touched(sub))
		}
	}
	return most
}

// In JSON the times of a statement are milliseconds, and they come back.
func TestTimesOfAStatement(t *testing.T) {
	text, err := json.Marshal(logged(target.StatementDone{Tag: "SELECT 1", Took: 1500 * time.Microsecond, Waited: 2 * time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); !strings.Contains(got, `"took_ms":1.5`) || !strings.Contains(got, `"waited_ms":2000`) || strings.Contains(got, `"took"`) {
		t.Fatal(got)
	}
	var back StatementDone
	if err := json.Unmarshal(text, &back); err != nil || back.Took != 1500*time.Microsecond || back.Waited != 2*time.Second || back.Tag != "SELECT 1" {
		t.Fatalf("%+v %v", back, err)
	}
}
