package remote_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const source = "# a pair\nname: pair\nsteps:\n- {key: a, service: render}\n- {key: b, service: render, needs: [a]}\n"

func parsed(t *testing.T, text string) *definition.Definition {
	t.Helper()
	d, faults := definition.Parse("pair.yaml", []byte(text))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return d
}

// put stores a definition with its source.
func put(t *testing.T, c op.Caller, d *definition.Definition, inactive bool) (workflow.Stored, error) {
	t.Helper()
	body := workflow.DefinitionBody{Definition: d.JSON(), Source: source}
	return workflow.Put.Call(t.Context(), c, &workflow.Putting{Body: workflow.PutBody{DefinitionBody: body, Inactive: inactive}})
}

// Workflows give the same results over HTTP as on the database.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	c := r.as(auth.Maintainer)
	w, err := put(t, c, parsed(t, source), false)
	if err != nil || !w.Created || w.Version != 1 || w.Source != source {
		t.Fatalf("stored %+v: %v", w, err)
	}
	if w, err = put(t, c, parsed(t, source), false); err != nil || w.Created {
		t.Errorf("the same again: %+v, %v", w, err)
	}
	// A reader of a file may give it another name.
	d := parsed(t, source)
	d.Name = "other"
	if w, err := put(t, c, d, true); err != nil || w.Name != "other" || w.Active {
		t.Errorf("under another name: %+v, %v", w, err)
	}
	pair := workflow.Named{Workflow: "pair"}
	for what, f := range map[string]func() (any, any, error){
		"list": func() (any, any, error) {
			want, err := r.flows.Workflows(ctx, view.Page{})
			got, err2 := workflow.List.Call(ctx, c, &op.Paged{})
			return want, got.Items, errors.Join(err, err2)
		},
		"one": func() (any, any, error) {
			want, err := r.flows.Workflow(ctx, "pair", 0)
			got, err2 := workflow.Show.Call(ctx, c, &workflow.NamedVersion{Named: pair})
			return want, got, errors.Join(err, err2)
		},
		"versions": func() (any, any, error) {
			want, err := r.flows.Versions(ctx, "pair", view.Page{Limit: 1})
			got, err2 := workflow.Versions.Call(ctx, c, &workflow.ListingVersions{Named: pair, Paged: op.Paged{Limit: 1}})
			return want, got.Items, errors.Join(err, err2)
		},
		"plan": func() (any, any, error) {
			want, err := r.flows.Plan(ctx, "pair", 1, definition.Options{})
			got, err2 := workflow.Plan.Call(ctx, c, &workflow.Planning{Named: pair, Body: &workflow.PlanBody{Version: 1}})
			return want, got.Items, errors.Join(err, err2)
		},
		"plan of a definition": func() (any, any, error) {
			options := definition.Options{Params: map[string]any{"x": 1}}
			want, err := r.flows.PlanDefinition(ctx, parsed(t, source), options)
			body := workflow.PlanDefinitionBody{DefinitionBody: workflow.DefinitionBody{Source: source}, Options: options}
			got, err2 := workflow.PlanDefinition.Call(ctx, c, &workflow.PlanningDefinition{Body: body})
			return want, got.Items, errors.Join(err, err2)
		},
	} {
		want, got, err := f()
		if err != nil || plain(t, want) != plain(t, got) {
			t.Errorf("%s: %v\non the database %s\nover HTTP %s", what, err, plain(t, want), plain(t, got))
		}
	}
	if _, err := workflow.SetActive.Call(ctx, c, &workflow.Activating{Named: workflow.Named{Workflow: "other"}, Body: workflow.ActiveBody{Version: 1, Active: true}}); err != nil {
		t.Error(err)
	}
	run := workflow.Running{Named: pair, Keyed: op.Keyed{IdempotencyKey: "k"}, Body: workflow.RunBody{Options: definition.Options{Params: map[string]any{"n": 1}}}}
	made, err := workflow.Run.Call(ctx, c, &run)
	again, err2 := workflow.Run.Call(ctx, c, &run)
	id := made.ID
	if err != nil || err2 != nil || id != again.ID || made.Existed || !again.Existed {
		t.Errorf("%+v: %v, %+v: %v", made, err, again, err2)
	}
	if why, err := work.WhyJob.Call(ctx, c, ofJob(id)); err != nil || len(why.Items) == 0 {
		t.Errorf("why %+v: %v", why, err)
	}
	if _, _, err := r.sdk.CancelJob(ctx, id, weir.Decision{}); err != nil {
		t.Fatal(err)
	}
	if n, err := work.RetryJob.Call(ctx, c, decidingJob(id, "again")); err != nil || n.Tasks == 0 {
		t.Errorf("retried %d: %v", n, err)
	}
	if _, _, err := r.sdk.CancelJob(ctx, id, weir.Decision{}); err != nil {
		t.Fatal(err)
	}
	rerun, err := workflow.Rerun.Call(ctx, c, &workflow.Rerunning{Job: id.String(), Body: &workflow.RerunBody{Failed: true}})
	if job, err2 := r.store.Job(ctx, rerun.ID); err != nil || err2 != nil || job.Origin != id {
		t.Errorf("rerun %+v: %v, %v", job, err, err2)
	}
	planned(t, c, id, len(rerun.Steps))
	filled, err := workflow.Backfill.Call(ctx, c, &workflow.Backfilling{Named: pair, Body: workflow.BackfillBody{From: "2026-01-01", To: "2026-01-03", Spec: "@daily"}})
	if err != nil || len(filled.Times) != 2 || len(filled.Jobs) != 2 {
		t.Errorf("backfill %+v: %v", filled, err)
	}
	_, err = workflow.Show.Call(ctx, c, &workflow.NamedVersion{Named: workflow.Named{Workflow: "ghost"}})
	if problem.Explain(err).Kind != problem.NotFound || !errors.Is(err, weir.ErrNotFound) {
		t.Errorf("a workflow that is not there: %v", err)
	}
}

// A schedule of a workflow is sent and read back.
func TestWorkflowSchedule(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	c := r.as(auth.Maintainer)
	if _, err := put(t, c, parsed(t, source), false); err != nil {
		t.Fatal(err)
	}
	s := work.ScheduleSpec{
		Spec: "@daily", Workflow: "pair", Options: json.RawMessage(`{"params": {"n": 1}}`), Overlap: "queue_one",
		CatchUp: op.Period(36 * time.Hour), Jitter: op.Period(time.Minute),
	}
	for range 2 {
		if err := putSchedule(ctx, c, "nightly", s); err != nil {
			t.Fatal(err)
		}
	}
	got, err := work.ShowSchedule.Call(ctx, c, &work.NamedSchedule{Schedule: "nightly"})
	want, err2 := r.store.Schedule(ctx, "nightly")
	if err != nil || err2 != nil || plain(t, got) != plain(t, want) || got.Workflow != "pair" || got.Overlap != "queue_one" || got.CatchUp == "" {
		t.Errorf("%+v: %v, %v", got, err, err2)
	}
}

// attempt creates a task that a node runs, and its desk.
func (r *rig) attempt() (*node.Desk, node.Lease) {
	r.t.Helper()
	ctx := r.t.Context()
	desk := node.NewDesk(r.db.Pool, "n1", node.Options{Bucket: r.bucket})
	if err := desk.Register(ctx, node.Info{Name: "n1", Capacity: map[string]int{"render": 1}}); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.db.Pool.Exec(ctx, `select weir.submit_job('[{"service": "render", "key": "a"}]', 'one')`); err != nil {
		r.t.Fatal(err)
	}
	got, err := desk.Claim(ctx, node.ClaimRequest{ID: "01890a5d-ac96-774b-bcce-b302099a8001", Services: []string{"render"}, Slots: []int{1}, N: 1, Wait: 20 * time.Second})
	if err != nil || len(got.Tasks) != 1 {
		r.t.Fatalf("claimed %+v: %v", got, err)
	}
	return desk, got.Tasks[0].Holds()
}

// Artifacts come from the bucket, and through the server if it cannot be reached.
func TestContent(t *testing.T) {
	t.Parallel()
	for name, bucket := range map[string]func(testing.TB) blob.Bucket{"folder": blobtest.Folder, "s3": blobtest.Open} {
		t.Run(name, func(t *testing.T) {
			r := newRigOn(t, bucket(t))
			ctx := t.Context()
			c := r.as(auth.Viewer)
			desk, lease := r.attempt()
			if err := desk.Upload(ctx, lease, node.ArtifactMeta{Kind: node.OutputArtifact, Name: "x.txt", Size: 5, ContentType: "text/plain"}, strings.NewReader("hello")); err != nil {
				t.Fatal(err)
			}
			list, err := op.Each(ctx, c, work.TaskArtifacts, work.ArtifactsOfTask{Task: lease.Task.String()})
			if err != nil || len(list) != 1 {
				t.Fatalf("%+v: %v", list, err)
			}
			if byJob, err := op.Each(ctx, c, work.JobArtifacts, work.ArtifactsOfJob{Job: list[0].Job.String(), ListingArtifacts: work.ListingArtifacts{Kind: "output"}}); err != nil || plain(t, byJob) != plain(t, list) {
				t.Errorf("%+v: %v", byJob, err)
			}
			read := func(a view.Artifact) (string, error) {
				object, err := c.Content(ctx, a)
				if err != nil {
					return "", err
				}
				defer object.Close()
				text, err := io.ReadAll(object)
				return string(text), err
			}
			if text, err := read(list[0]); err != nil || text != "hello" {
				t.Errorf("%q: %v", text, err)
			}
			other := list[0]
			other.SHA256 = strings.Repeat("0", 64)
			if _, err := read(other); !errors.Is(err, blob.ErrCorrupt) {
				t.Errorf("other bytes than were kept: %v", err)
			}
			var redirected atomic.Bool
			r.intercept(func(w http.ResponseWriter, q *http.Request) bool {
				if strings.HasSuffix(q.URL.Path, "/content") && q.URL.Query().Get("through") == "" {
					redirected.Store(true)
					w.Header().Set("Location", "http://127.0.0.1:1/nobody")
					w.WriteHeader(http.StatusSeeOther)
					return false
				}
				return true
			})
			if text, err := read(list[0]); err != nil || text != "hello" || !redirected.Load() {
				t.Errorf("through the server: %q: %v", text, err)
			}
		})
	}
}

// A log that is followed is complete, also over broken connections.
func TestLog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	c := r.as(auth.Viewer)
	desk, lease := r.attempt()
	say := func(seq int, texts ...string) {
		t.Helper()
		var lines []byte
		for _, text := range texts {
			lines = joblog.Append(lines, joblog.Line{At: time.Now(), Stream: joblog.Stdout, Text: text})
		}
		if err := desk.AppendLog(ctx, lease, node.LogChunk{Seq: seq, Lines: lines}); err != nil {
			t.Fatal(err)
		}
	}
	say(0, "a", "b")
	var asked atomic.Int64
	r.intercept(func(w http.ResponseWriter, q *http.Request) bool {
		if !strings.HasSuffix(q.URL.Path, "/log") || asked.Add(1) > 1 {
			return true
		}
		// The first connection sends one line and breaks.
		_, _ = w.Write([]byte(`{"stream":"stdout","text":"a","place":"0.1"}` + "\n"))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	var got []string
	for l, err := range c.Log(ctx, lease.Task, 0, joblog.Place{}, true) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l.Text)
		switch l.Text {
		case "b":
			say(1, "c")
		case "c":
			if refused, err := desk.End(ctx, []node.Outcome{{Lease: lease, Verdict: node.Done}}); err != nil || len(refused) > 0 {
				t.Fatal(refused, err)
			}
		}
	}
	if strings.Join(got, " ") != "a b c" || asked.Load() < 2 {
		t.Errorf("got %v over %d connections", got, asked.Load())
	}
	got = nil
	for l, err := range c.Log(ctx, lease.Task, 1, joblog.Place{Chunk: 0, Line: 1}, false) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l.Text)
		if l.Text == "b" {
			break
		}
	}
	if strings.Join(got, " ") != "b" {
		t.Errorf("from a place: %v", got)
	}
	for _, err := range c.Log(ctx, weir.ID{1}, 0, joblog.Place{}, false) {
		if problem.Explain(err).Kind != problem.NotFound {
			t.Errorf("of no task: %v", err)
		}
	}
}

func TestSecretsAndNodes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	c := r.as(auth.Maintainer)
	key := work.NamedSecret{Secret: "key"}
	if _, err := work.PutSecret.Call(ctx, c, &work.PuttingSecret{NamedSecret: key, Body: work.SecretBody{Value: "value", Note: "note"}}); err != nil {
		t.Fatal(err)
	}
	page, err := work.ListSecrets.Call(ctx, c, &struct{}{})
	list := page.Items
	if err != nil || len(list) != 1 || list[0].Name != "key" || list[0].Note != "note" || list[0].By == "" {
		t.Errorf("%+v: %v", list, err)
	}
	if _, err := work.DeleteSecret.Call(ctx, c, &key); err != nil {
		t.Error(err)
	}
	if err := r.sdk.RegisterNode(ctx, weir.Node{Name: "n1", Labels: map[string]string{"a": "b"}}); err != nil {
		t.Fatal(err)
	}
	name := work.NamedNode{Node: "n1"}
	method := work.WakeMethod{Method: "wol", MAC: "02:00:00:00:00:01", Timeout: op.Period(time.Minute), SleepAfter: op.Period(time.Hour)}
	if _, err := work.SetWake.Call(ctx, c, &work.SettingWake{NamedNode: name, Body: method}); err != nil {
		t.Error(err)
	}
	set := work.SettingNode{NamedNode: name}
	set.Body.Capacity = map[string]int{"x": 3}
	if _, err := work.SetNode.Call(ctx, c, &set); err != nil {
		t.Error(err)
	}
	n, err := work.ShowNode.Call(ctx, c, &name)
	if err != nil || n.WakeMethod != "wol" || n.SleepAfter != "01:00:00" || n.Capacity["x"] != 3 || n.Labels["a"] != "b" {
		t.Errorf("%+v: %v", n, err)
	}
	if _, err := work.WakeNode.Call(ctx, c, &work.NamedNode{Node: "ghost"}); problem.Explain(err).Kind != problem.NotFound {
		t.Errorf("wake nobody: %v", err)
	}
}

// planned asks what a rerun of a canceled job would do.
func planned(t *testing.T, c op.Caller, id weir.ID, steps int) {
	t.Helper()
	plan, err := workflow.PlanRerun.Call(t.Context(), c, &workflow.Rerunning{Job: id.String(), Body: &workflow.RerunBody{Failed: true, Newest: true}})
	if err != nil || len(plan.Items) != steps || plan.Items[0].Code != "again_not_done" || plan.Items[0].Args["state"] != "canceled" {
		t.Errorf("plan of a rerun %+v: %v", plan, err)
	}
}
