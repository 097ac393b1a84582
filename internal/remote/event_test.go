package remote_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
	"github.com/weirhq/weir/internal/workflow"
)

// A step that waits for an event is told of it through its job, or by a signed link, which
// needs no other credential, can do nothing else, and ends with the wait.
func TestEventsOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, c := t.Context(), r.as(auth.Maintainer)
	var file workflow.Putting
	file.Body.Source = "name: w\nsteps:\n  - {key: a, wait: first}\n  - {key: b, wait: second}\n  - {key: c, service: s, approval: ask}"
	if _, err := workflow.Put.Call(ctx, c, &file); err != nil {
		t.Fatal(err)
	}
	made, err := workflow.Run.Call(ctx, c, &workflow.Running{Named: workflow.Named{Workflow: "w"}})
	if err != nil {
		t.Fatal(err)
	}
	task := func(key, event string) (id weir.ID) {
		t.Helper()
		if err := r.db.Pool.QueryRow(ctx, `select id from weir.tasks where job = $1 and key = $2`, made.ID, key).Scan(&id); err != nil {
			t.Fatal(err)
		}
		if event != "" {
			plan := fmt.Sprintf(`[{"task": %q, "job": %q, "do": "plan", "hold": "event", "ask": {"event": %q}}]`, id, made.ID, event)
			if _, err := r.db.Pool.Exec(ctx, `select weir.workflow_plan($1)`, plan); err != nil {
				t.Fatal(err)
			}
		}
		return id
	}
	a, b := task("a", "first"), task("b", "second")
	signal := func(event, payload string) (int, error) {
		out, err := work.SignalJob.Call(ctx, c, &work.Signaling{NamedJob: *ofJob(made.ID), Body: work.SignalBody{Event: event, Payload: json.RawMessage(payload)}})
		return out.Tasks, err
	}
	if n, err := signal("first", `{"n": 1}`); n != 1 || err != nil {
		t.Errorf("signal: %d, %v", n, err)
	}
	if _, err := signal("first", `{"n": 2}`); problem.Explain(err).Kind != problem.Conflict {
		t.Errorf("another payload: %v", err)
	}
	for id, want := range map[weir.ID]problem.Kind{a: problem.Conflict, task("c", ""): problem.Conflict} {
		if _, err := work.LinkTask.Call(ctx, c, named(id)); problem.Explain(err).Kind != want {
			t.Errorf("a link of a task that waits for no event: %v", err)
		}
	}
	link, err := work.LinkTask.Call(ctx, c, named(b))
	if err != nil {
		t.Fatal(err)
	}
	follow := func(path, body string, want int) {
		t.Helper()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("POST %s %s: %d, want %d", path, body, answer.StatusCode, want)
		}
	}
	// The signature of one task fits no other, and a changed one fits none.
	forged, err := base64.RawURLEncoding.DecodeString(link.Path[strings.LastIndex(link.Path, "/")+1:])
	if err != nil {
		t.Fatal(err)
	}
	other := append(append([]byte{}, a[:]...), forged[16:]...)
	forged[20] ^= 1
	for _, bad := range [][]byte{forged, other, forged[:16], forged[:10]} {
		follow("/api/v1/events/"+base64.RawURLEncoding.EncodeToString(bad), `{"payload": 1}`, http.StatusNotFound)
	}
	follow(link.Path, `{"payload": {"paid": true}}`, http.StatusOK)
	follow(link.Path, `{"payload": {"paid": true}}`, http.StatusOK) // sent again
	follow(link.Path, `{"payload": {"paid": false}}`, http.StatusNotFound)
	found, err := r.store.Task(ctx, b)
	if err != nil || found.State != weir.Done || string(found.Result) != `{"paid": true}` {
		t.Errorf("%+v, %v", found, err)
	}
}

// A link ends with the wait, although nothing was sent.
func TestALinkEndsWithItsWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	var job, id weir.ID
	if err := r.db.Pool.QueryRow(ctx, `select weir.submit_job('[{"key": "a", "service": "wait", "hold": "event"}, {"key": "b", "service": "s"}]', 'j')`).Scan(&job); err != nil {
		t.Fatal(err)
	}
	if err := r.db.Pool.QueryRow(ctx, `select id from weir.tasks where job = $1 and key = 'a'`, job).Scan(&id); err != nil {
		t.Fatal(err)
	}
	if _, err := r.db.Pool.Exec(ctx, `select weir._ask($1, $2, '{"event": "e", "expires": "1 hour"}')`, id, job); err != nil {
		t.Fatal(err)
	}
	if _, err := r.db.Pool.Exec(ctx, `select weir.settle_asks(at => now() + interval '2 hours')`); err != nil {
		t.Fatal(err)
	}
	if n, err := r.sdk.SignalTask(ctx, id, json.RawMessage(`1`), "link"); problem.Explain(err).Kind != problem.NotFound {
		t.Errorf("%d, %v", n, err)
	}
}
