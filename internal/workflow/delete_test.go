package workflow

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// refusesDelete expects a conflict with this text and advice.
func (r *rig) refusesDelete(name string, version int, want string) {
	r.Helper()
	_, err := r.store.Delete(r.Context(), "ann", name, version)
	if err == nil {
		r.Fatalf("%s@%d was deleted, want %q", name, version, want)
	}
	if p := problem.Explain(err); p.Kind != problem.Conflict || !strings.Contains(p.What, want) || p.Next == "" {
		r.Errorf("%s@%d: %+v, want %q", name, version, p, want)
	}
}

func (r *rig) deletes(name string, version, want int) {
	r.Helper()
	if n, err := r.store.Delete(r.Context(), "ann", name, version); err != nil || n != want {
		r.Errorf("delete %s@%d: %d versions, %v; want %d", name, version, n, err, want)
	}
}

func TestADeletedWorkflowIsHistoryOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps: [{key: a, service: s}]\nschedules: [{name: nightly, spec: '0 3 * * *'}]")
	r.does["a"] = fails("boom")
	old := r.run("w", nil)
	r.ends(old, "failed", "a failed")
	r.put("name: w\nsteps: [{key: b, service: s}]\nschedules: [{name: nightly, spec: '0 4 * * *'}]")
	r.deletes("w", 0, 2)

	if got := r.text(`select string_agg(type || ' ' || kind || ' ' || subject || ' ' || source || ' ' || coalesce(message, ''), ', ' order by seq) from weir.events where type = 'dropped'`); got != "dropped workflow w ann all versions: 2, dropped schedule workflow/w/nightly ann " {
		t.Errorf("the timeline says %s", got)
	}
	if list, err := r.store.Workflows(t.Context(), view.Page{}); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	for what, ask := range map[string]func() error{
		"read":       func() error { _, err := r.store.Workflow(t.Context(), "w", 1); return err },
		"versions":   func() error { _, err := r.store.Versions(t.Context(), "w", view.Page{}); return err },
		"run":        func() error { _, err := r.store.Run(t.Context(), RunRequest{Workflow: "w"}); return err },
		"run of one": func() error { _, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", Version: 1}); return err },
		"run later": func() error {
			_, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", At: time.Now().Add(time.Hour)})
			return err
		},
		"plan":       func() error { _, err := r.store.Plan(t.Context(), "w", 0, definition.Options{}); return err },
		"activate":   func() error { return r.store.SetActive(t.Context(), "ann", "w", 1, true) },
		"delete":     func() error { _, err := r.store.Delete(t.Context(), "ann", "w", 0); return err },
		"delete one": func() error { _, err := r.store.Delete(t.Context(), "ann", "w", 2); return err },
	} {
		if err := ask(); err == nil || problem.Explain(err).Kind != problem.NotFound {
			t.Errorf("%s of a deleted workflow: %v", what, err)
		}
	}
	if _, err := r.db.Pool.Exec(t.Context(), `select weir.set_schedule('s', '@daily', null, now() + interval '1 day', workflow => 'w')`); err == nil || !strings.Contains(err.Error(), "there is no workflow") {
		t.Errorf("a schedule of it: %v", err)
	}

	// Its job is still there, with its definition, and can still be repaired.
	id, err := weir.ParseID(r.text(`select definition::text from weir.job where id = $1`, old))
	if err != nil {
		t.Fatal(err)
	}
	if w, err := r.store.Of(t.Context(), id); err != nil || w.Name != "w" || w.Version != 1 || w.DeletedAt == nil || !strings.Contains(string(w.Definition), `"key": "a"`) {
		t.Errorf("%+v %v", w, err)
	}
	if _, _, err := r.store.Rerun(t.Context(), old, RerunRequest{}); err == nil || problem.Explain(err).Kind != problem.Conflict || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("rerun: %v", err)
	}
	delete(r.does, "a")
	r.exec(`select weir.retry_job($1)`, old)
	r.ends(old, "done", "a done")

	// The name is free, but its version numbers are not.
	if _, _, err := r.store.Put(t.Context(), "ann", parse(t, "name: w\nversion: 2\nsteps: [{key: b, service: s}]"), "", PutOptions{}); err == nil || problem.Explain(err).Kind != problem.Conflict || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("version 2 again: %v", err)
	}
	if w := r.put("name: w\nsteps: [{key: b, service: s}]"); w.Version != 3 || w.DeletedAt != nil {
		t.Errorf("the new one is %+v", w)
	}
	r.ends(r.run("w", nil), "done", "b done")
}

func TestAVersionIsDeletedAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, key := range []string{"a", "b", "c"} {
		r.put("name: w\nsteps: [{key: " + key + ", service: s}]")
	}
	r.deletes("w", 1, 1)
	r.refusesDelete("w", 3, "is what a run of it takes")
	if err := r.store.SetActive(t.Context(), "ann", "w", 3, false); err != nil {
		t.Fatal(err)
	}
	r.deletes("w", 3, 1)
	r.ends(r.run("w", nil), "done", "b done")
	if w := r.put("name: w\nsteps: [{key: b, service: s}]"); w.Version != 2 {
		t.Errorf("what is there is stored again as %d", w.Version)
	}
	if w := r.put("name: w\nsteps: [{key: c, service: s}]"); w.Version != 4 {
		t.Errorf("what was deleted is stored as %d", w.Version)
	}
	r.deletes("w", 2, 1)
	r.deletes("w", 4, 1) // the last one
	if _, err := r.store.Workflow(t.Context(), "w", 0); err == nil {
		t.Error("it is still there")
	}
}

func TestAWorkflowInUseIsNotDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("name: w\nsteps: [{key: a, service: s}]")
	running := r.run("w", nil)
	later, err := r.store.Run(t.Context(), RunRequest{Workflow: "w", At: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	r.refusesDelete("w", 0, "1 running, 1 queued")
	r.refusesDelete("w", 1, "1 running, 1 queued")
	r.ends(running, "done", "a done")
	r.refusesDelete("w", 0, "0 running, 1 queued")
	r.exec(`select weir.cancel_job($1)`, later)

	r.exec(`select weir.set_schedule('mine', '@daily', null, now() + interval '1 day', workflow => 'w')`)
	r.refusesDelete("w", 0, "schedule mine")
	r.exec(`select weir.drop_schedule('mine')`)

	r.put("name: outer\nsteps: [{key: sub, workflow: w}]")
	r.refusesDelete("w", 0, "a step of workflow outer")
	r.put("name: outer\nsteps: [{key: sub, workflow: w@1}]")
	r.deletes("outer", 1, 1)
	r.refusesDelete("w", 1, "a step of workflow outer")
	r.deletes("outer", 0, 1)
	r.deletes("w", 0, 1)
	if got := r.text(`select string_agg(name || ' ' || state, ', ' order by order_seq) from weir.job`); got != "w done, w canceled" {
		t.Errorf("the jobs are %s", got)
	}
}
