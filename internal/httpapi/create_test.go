package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

// A create that is sent again creates nothing new.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("boss", auth.Admin)
	boss := r.login("boss")
	task := map[string]any{"service": "x"}
	var first, second work.Submitted
	got := boss.want(http.StatusCreated, "POST", "/tasks", task, "Idempotency-Key", "k1")
	got.into(&first)
	if got.header.Get("Location") != prefix+"/tasks/"+first.ID.String() {
		t.Errorf("Location %q", got.header.Get("Location"))
	}
	boss.want(http.StatusOK, "POST", "/tasks", task, "Idempotency-Key", "k1").into(&second)
	if second.ID != first.ID || first.Existed || !second.Existed {
		t.Errorf("got %+v, then %+v", first, second)
	}
	both := boss.want(http.StatusUnprocessableEntity, "POST", "/tasks", map[string]any{"service": "x", "idempotency_key": "other"}, "Idempotency-Key", "k1")
	if both.refusal().Field != "idempotency_key" {
		t.Errorf("got %s", both.body)
	}

	var batch [2]op.Page[work.Submitted]
	for i := range batch {
		boss.want(http.StatusCreated, "POST", "/tasks/batch", map[string]any{"tasks": []any{task, task}}, "Idempotency-Key", "k2").into(&batch[i])
	}
	if a, b := batch[0].Items, batch[1].Items; len(a) != 2 || a[0].ID != b[0].ID || a[1].ID != b[1].ID || a[0].ID == a[1].ID || !b[1].Existed {
		t.Errorf("got %+v", batch)
	}

	var jobs [2]work.JobMade
	for i, status := range []int{http.StatusCreated, http.StatusOK} {
		boss.want(status, "POST", "/jobs", map[string]any{"name": "j", "tasks": []any{task}}, "Idempotency-Key", "k3").into(&jobs[i])
	}
	if jobs[0].ID != jobs[1].ID || jobs[0].Existed || !jobs[1].Existed {
		t.Errorf("got %+v", jobs)
	}

	user := map[string]any{"name": "ada", "role": "viewer"}
	boss.want(http.StatusCreated, "POST", "/users", user)
	if p := boss.want(http.StatusConflict, "POST", "/users", user).refusal(); p.Code != "conflict" {
		t.Errorf("got %+v", p)
	}
	token := map[string]any{"name": "ci", "scopes": []string{"*:read"}}
	boss.want(http.StatusCreated, "POST", "/tokens", token)
	boss.want(http.StatusConflict, "POST", "/tokens", token)
	var tokens op.Page[auth.Token]
	boss.want(http.StatusOK, "GET", "/tokens", nil).into(&tokens)
	if len(tokens.Items) != 1 {
		t.Errorf("%d tokens", len(tokens.Items))
	}
}

// Changing a definition requires If-Match, and a stale version is refused.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct{ first, again, second string }{
		"pools": {`{"size":1,"rate":10,"per":"90s"}`, `{"rate":10,"size":1,"per":"1m30s"}`, `{"size":2}`},
		"schedules": {
			`{"spec":"@daily","task":{"service":"x","timeout":"90s","run_at":"2030-01-01T01:00:00+01:00","max_attempts":2,"params":{"a":[1,{"b":null}]}}}`,
			`{"task":{"params":{"a":[1,{"b":null}]},"max_attempts":2,"service":"x","timeout":"1m30s","run_at":"2030-01-01T00:00:00Z"},"spec":"@daily","zone":"UTC","missed":"one"}`,
			`{"spec":"@hourly","task":{"service":"x"}}`,
		},
		"schedules of workflows": {
			`{"spec":"@daily","workflow":"nightly","options":{"params":{"a":[1,null]}},"overlap":"queue_one","catch_up":"36h","jitter":"90s"}`,
			`{"overlap":"queue_one","workflow":"nightly","jitter":"1m30s","catch_up":"1d12h","options":{"params":{"a":[1,null]}},"spec":"@daily","zone":"UTC","missed":"one"}`,
			`{"spec":"@daily","workflow":"nightly","overlap":"skip"}`,
		},
	} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t)
			r.user("boss", auth.Admin)
			boss := r.login("boss")
			kind, _, workflows := strings.Cut(kind, " of ")
			if workflows {
				boss.want(http.StatusCreated, "PUT", "/workflows", map[string]any{"definition": json.RawMessage(`{"name":"nightly","steps":[{"key":"a","service":"x"}]}`)})
			}
			path := "/" + kind + "/" + url.PathEscape("a/b ü")
			boss.want(http.StatusPreconditionFailed, "PUT", path, c.first, "If-Match", "*")
			one := boss.want(http.StatusCreated, "PUT", path, c.first).header.Get("ETag")
			if got := boss.want(http.StatusOK, "PUT", path, c.again).header.Get("ETag"); got != one || one == "" {
				t.Errorf("the same again: %s, was %s", got, one)
			}
			if p := boss.want(http.StatusPreconditionRequired, "PUT", path, c.second).refusal(); p.Field != "If-Match" || p.Code != "invalid" {
				t.Errorf("got %+v", p)
			}
			boss.want(http.StatusPreconditionFailed, "PUT", path, c.second, "If-None-Match", "*")
			two := boss.want(http.StatusOK, "PUT", path, c.second, "If-Match", one).header.Get("ETag")
			if two == one {
				t.Error("the version did not change")
			}
			if p := boss.want(http.StatusPreconditionFailed, "PUT", path, c.first, "If-Match", one).refusal(); p.Code != "conflict" {
				t.Errorf("got %+v", p)
			}
			if got := boss.want(http.StatusOK, "GET", path, nil).header.Get("ETag"); got != two {
				t.Errorf("it is %s, the PUT said %s", got, two)
			}
			boss.want(http.StatusOK, "PUT", path, c.first, "If-Match", `"other", `+two)
			boss.want(http.StatusOK, "PUT", path, c.second, "If-Match", "*")
			boss.want(http.StatusPreconditionFailed, "DELETE", path, nil, "If-Match", one)
			boss.want(http.StatusNoContent, "DELETE", path, nil, "If-Match", two)
			boss.want(http.StatusNotFound, "DELETE", path, nil)
			var sets int
			if err := r.db.Pool.QueryRow(t.Context(), `select count(*) from weir.events where type = 'set' and subject = 'a/b ü'`).Scan(&sets); err != nil || sets != 4 {
				t.Errorf("%d changes were written, want 4: %v", sets, err)
			}
			var all bool
			if err := r.db.Pool.QueryRow(t.Context(), `select bool_and(source = 'boss') from weir.events where subject = 'a/b ü'`).Scan(&all); err != nil || !all {
				t.Errorf("the timeline does not say who changed it: %v", err)
			}
		})
	}
}

// Reading page by page returns the same as reading all at once, and the Link header leads
// to the next page.
func TestPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("boss", auth.Admin)
	boss := r.login("boss")
	for i := range 5 {
		boss.want(http.StatusCreated, "POST", "/tasks", map[string]any{"service": fmt.Sprintf("s%d", i)})
		boss.want(http.StatusCreated, "PUT", fmt.Sprintf("/pools/p%d", i), map[string]any{"size": 1})
	}
	for _, list := range []string{"/tasks", "/pools"} {
		type item struct{ ID, Name string }
		var all op.Page[item]
		boss.want(http.StatusOK, "GET", list, nil).into(&all)
		if len(all.Items) != 5 || all.Next != "" {
			t.Fatalf("%s: %+v", list, all)
		}
		var paged []item
		for path := list + "?limit=2"; path != ""; {
			got := boss.want(http.StatusOK, "GET", path, nil)
			var page op.Page[item]
			got.into(&page)
			paged = append(paged, page.Items...)
			link := got.header.Get("Link")
			if (page.Next == "") != (link == "") {
				t.Fatalf("next %q, Link %q", page.Next, link)
			}
			path = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`), prefix)
		}
		if fmt.Sprint(paged) != fmt.Sprint(all.Items) {
			t.Errorf("%s: %v by page, %v at once", list, paged, all.Items)
		}
	}
}

// The timeline names the subject that gave a command.
func TestCommandsSayWho(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Maintainer)
	ada := r.token("ada", "*:*")
	var made work.Submitted
	ada.want(http.StatusCreated, "POST", "/tasks", map[string]any{"service": "x", "hold": "somebody"}).into(&made)
	short := made.ID.String()[24:]
	ada.want(http.StatusNoContent, "POST", "/tasks/"+short+"/release", nil)
	ada.want(http.StatusNoContent, "POST", "/tasks/"+short+"/hold", map[string]string{"reason": "wait"})
	ada.want(http.StatusNoContent, "PUT", "/tasks/"+short+"/priority", map[string]int{"priority": 7})
	ada.want(http.StatusNoContent, "POST", "/tasks/"+short+"/skip", map[string]string{"reason": "no need"})
	ada.want(http.StatusNoContent, "POST", "/tasks/"+short+"/retry", nil)
	var canceled work.CancelOutput
	ada.want(http.StatusOK, "POST", "/tasks/"+short+"/cancel", nil).into(&canceled)
	if !canceled.Ended {
		t.Error("not canceled")
	}
	var life op.Page[view.Event]
	ada.want(http.StatusOK, "GET", "/tasks/"+short+"/events", nil).into(&life)
	for _, e := range life.Items[1:] {
		if !strings.Contains(e.Source+e.Message, "ada (token *:*)") && e.Type != "opened" {
			t.Errorf("%s is by %q", e.Type, e.Source)
		}
	}
	if len(life.Items) < 7 {
		t.Errorf("%d events", len(life.Items))
	}
	var task view.Task
	ada.want(http.StatusOK, "GET", "/tasks/"+short, nil).into(&task)
	if task.State != weir.Canceled || task.Priority != 7 {
		t.Errorf("got %+v", task)
	}
	ada.want(http.StatusConflict, "POST", "/tasks/"+short+"/hold", nil)
}

func TestNodeMode(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Maintainer)
	ada := r.login("ada")
	if err := r.sdk.RegisterNode(t.Context(), weir.Node{Name: "n1"}); err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	ada.want(http.StatusNoContent, "PUT", "/nodes/n1/mode", map[string]any{"mode": "draining", "until": until, "reason": "disk"})
	var n view.Node
	ada.want(http.StatusOK, "GET", "/nodes/n1", nil).into(&n)
	if n.State != "draining" || !n.ModeUntil.Equal(until) {
		t.Errorf("got %+v", n)
	}
	ada.want(http.StatusNotFound, "PUT", "/nodes/ghost/mode", map[string]any{"mode": "paused"})
}

// A key stands for one body of one person: with another body it is refused, and the same key
// of another user is another key. Tokens share the keys of their user. A key from before this
// rule keeps its old meaning.
func TestKeysBelongToASubject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Admin)
	r.user("bob", auth.Admin)
	ada, bob := r.login("ada"), r.login("bob")
	ada.want(http.StatusCreated, "PUT", "/workflows", map[string]any{"source": pair, "file": "pair.yaml"})
	task := func(n int) map[string]any { return map[string]any{"service": "x", "params": map[string]int{"n": n}} }
	creates := map[string][2]any{
		"/tasks":              {task(1), task(2)},
		"/tasks/batch":        {map[string]any{"tasks": []any{task(1), task(1)}}, map[string]any{"tasks": []any{task(1), task(2)}}},
		"/jobs":               {map[string]any{"name": "j", "tasks": []any{task(1)}}, map[string]any{"name": "j", "tasks": []any{task(2)}}},
		"/workflows/pair/run": {map[string]any{"params": map[string]int{"n": 1}}, map[string]any{"params": map[string]int{"n": 2}}},
	}
	program := r.token("ada", "*:submit", "*:manage")
	for path, body := range creates {
		key := []string{"Idempotency-Key", "key of " + path}
		first := ada.want(http.StatusCreated, "POST", path, body[0], key...)
		again := ada.call("POST", path, body[0], key...)
		if again.status >= 300 || !strings.Contains(string(again.body), `"existed":true`) {
			t.Errorf("%s again: %d %s", path, again.status, again.body)
		}
		if p := ada.want(http.StatusUnprocessableEntity, "POST", path, body[1], key...).refusal(); !strings.Contains(p.Field, "idempotency_key") {
			t.Errorf("%s with another body: %+v", path, p)
		}
		token := program.call("POST", path, body[0], key...)
		if !strings.Contains(string(token.body), `"existed":true`) {
			t.Errorf("%s with a token: %d %s", path, token.status, token.body)
		}
		other := bob.want(http.StatusCreated, "POST", path, body[1], key...)
		if strings.Contains(string(other.body), `"existed":true`) || string(other.body) == string(first.body) {
			t.Errorf("%s of somebody else: %s", path, other.body)
		}
	}
	// The key as it was kept before: without a subject, and without the hash of its body.
	var old, same work.Submitted
	ada.want(http.StatusCreated, "POST", "/tasks", task(1), "Idempotency-Key", "old").into(&old)
	r.exec(`update weir.idempotency set key = weir._plain_key(key), body = null where key like '%/old'`)
	bob.want(http.StatusOK, "POST", "/tasks", task(2), "Idempotency-Key", "old").into(&same)
	if same.ID != old.ID {
		t.Errorf("an old key gives %s, then %s", old.ID, same.ID)
	}
}
