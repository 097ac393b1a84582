package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node/wire"
	"github.com/weirhq/weir/internal/testwait"
)

// registered returns a node whose agent has registered.
func (r *rig) registered(name string) *as {
	r.t.Helper()
	n := r.node(name)
	n.want(http.StatusNoContent, "POST", "/agent/register", wire.Info{Labels: map[string]string{"zone": "a"}, Capacity: map[string]int{"render": 4}, Drivers: []string{"exec"}, Version: "1.0"})
	return n
}

// submit makes a job of two steps: a, and b, which takes the artifacts of a as inputs.
func (r *rig) submit() weir.ID {
	r.t.Helper()
	var job weir.ID
	err := r.db.Pool.QueryRow(r.t.Context(), `select weir.submit_job($1::jsonb, 'pair')`, `[
		{"service": "render", "key": "a", "params": {"n": 1}, "run": {"driver": "exec", "argv": ["true"], "secrets": {"API_KEY": "api_key"}}},
		{"service": "render", "key": "b", "needs": ["a"], "run": {"driver": "exec", "argv": ["true"], "inputs": [{"from": "a"}]}}]`).Scan(&job)
	if err != nil {
		r.t.Fatal(err)
	}
	return job
}

// claim leases one task, which must exist.
func (a *as) claim(id string) wire.Assignment {
	a.rig.t.Helper()
	var got wire.Claimed
	a.want(http.StatusOK, "POST", "/agent/claim", wire.Claim{ID: id, Services: []string{"render"}, Slots: []int{1}, N: 1, WaitMS: 20_000}).into(&got)
	if len(got.Items) != 1 {
		a.rig.t.Fatalf("%d tasks", len(got.Items))
	}
	return got.Items[0]
}

// none fails the test if anything was refused.
func none(t *testing.T, got *answered) {
	t.Helper()
	var r wire.Refusals
	if got.into(&r); len(r.Refusals) != 0 {
		t.Fatalf("refused: %+v", r)
	}
}

func (a *as) put(l wire.Lease, name, body string, headers ...string) *answered {
	a.rig.t.Helper()
	path := fmt.Sprintf("/agent/artifacts/%s/%d?name=%s", l.Task, l.Attempt, name)
	return a.call("PUT", path, body, append([]string{wire.Fence, l.Token, "Content-Type", "text/plain"}, headers...)...)
}

const claimOne, claimTwo = "01890a5d-ac96-774b-bcce-b302099a8001", "01890a5d-ac96-774b-bcce-b302099a8002"

// A node does a whole job over HTTP alone.
func TestAgentWork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := r.vault.Put(t.Context(), "test", "api_key", "canary-value", ""); err != nil {
		t.Fatal(err)
	}
	n1 := r.registered("n1")
	var orders wire.Orders
	n1.want(http.StatusOK, "POST", "/agent/heartbeat", nil).into(&orders)
	if orders.Mode != "active" || orders.Capacity["render"] != 4 {
		t.Errorf("orders %+v", orders)
	}
	job := r.submit()
	a := n1.claim(claimOne)
	if a.Key != "a" || a.Job != job || a.LeaseMS <= 0 || a.LeaseMS > 30_000 || string(a.Params) != `{"n":1}` || a.DeadlineMS != 0 || !strings.Contains(string(a.Run), "API_KEY") {
		t.Errorf("got %+v", a)
	}
	if again := n1.claim(claimOne); again.Task != a.Task || again.Token != a.Token {
		t.Errorf("the same claim again gave %+v", again)
	}
	leases := wire.Leases{Leases: []wire.Lease{a.Lease}}
	none(t, n1.want(http.StatusOK, "POST", "/agent/start", leases))
	none(t, n1.want(http.StatusOK, "POST", "/agent/renew", wire.Renewal{Leases: leases, LeaseMS: 60_000}))
	none(t, n1.want(http.StatusOK, "POST", "/agent/record", wire.Notes{Notes: []wire.Note{{Lease: a.Lease, Type: "progress", Data: `{"percent": 40}`}}}))
	got := n1.want(http.StatusOK, "POST", "/agent/secrets", wire.Held{Lease: a.Lease})
	var secrets wire.Secrets
	got.into(&secrets)
	if secrets.Secrets["api_key"] != "canary-value" || len(secrets.Secrets) != 1 || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("secrets %+v, %s", secrets, got.header.Get("Cache-Control"))
	}
	if strings.Contains(r.log.String(), "canary-value") || strings.Contains(r.log.String(), a.Token) {
		t.Error("the log holds a secret")
	}
	n1.want(http.StatusNoContent, "POST", "/agent/logs", wire.Log{Lease: a.Lease, Lines: []byte("{\"text\":\"hello\"}\n")})
	offer := wire.Offer{Lease: a.Lease, Object: wire.Object{Kind: "output", Name: "out/a.txt", Size: 5}}
	var place wire.Place
	n1.want(http.StatusOK, "POST", "/agent/artifacts/begin", offer).into(&place)
	if place.URL != "" {
		t.Errorf("a folder has the address %s", place.URL)
	}
	if got := n1.put(a.Lease, "out/a.txt", "hello"); got.status != http.StatusNoContent {
		t.Fatalf("upload: %d %s", got.status, got.body)
	}
	none(t, n1.want(http.StatusOK, "POST", "/agent/end", wire.Outcomes{Outcomes: []wire.Outcome{{Lease: a.Lease, Verdict: "done", Result: `{"ok": true}`}}}))

	b := n1.claim(claimTwo)
	var inputs wire.Inputs
	n1.want(http.StatusOK, "POST", "/agent/inputs", wire.Held{Lease: b.Lease}).into(&inputs)
	if len(inputs.Items) != 1 || inputs.Items[0].Name != "out/a.txt" || inputs.Items[0].Size != 5 {
		t.Fatalf("inputs %+v", inputs)
	}
	if got := n1.want(http.StatusOK, "POST", "/agent/inputs/content", wire.Wanted{Lease: b.Lease, Key: inputs.Items[0].Key}); string(got.body) != "hello" {
		t.Errorf("the input is %q", got.body)
	}
	n1.want(http.StatusNotFound, "POST", "/agent/inputs/content", wire.Wanted{Lease: b.Lease, Key: "outputs/other"})
	none(t, n1.want(http.StatusOK, "POST", "/agent/end", wire.Outcomes{Outcomes: []wire.Outcome{{Lease: b.Lease, Verdict: "done"}}}))
	done, err := r.store.Job(t.Context(), job)
	if err != nil || done.State != "done" {
		t.Errorf("the job is %+v, %v", done, err)
	}
	n1.want(http.StatusNoContent, "POST", "/agent/stop", nil)
	n1.want(http.StatusGone, "POST", "/agent/secrets", wire.Held{Lease: a.Lease})
}

// A node cannot change anything that another node has a lease of: not with its token, not
// over any route.
func TestForeignLeases(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := r.vault.Put(t.Context(), "test", "api_key", "canary-value", ""); err != nil {
		t.Fatal(err)
	}
	n1, n2 := r.registered("n1"), r.registered("n2")
	r.submit()
	a := n1.claim(claimOne)
	if got := n1.put(a.Lease, "a.txt", "hello"); got.status != http.StatusNoContent {
		t.Fatalf("upload: %d %s", got.status, got.body)
	}
	before := r.history(a.Task)
	one := wire.Leases{Leases: []wire.Lease{a.Lease}}
	bodies := map[string]any{
		"/agent/start": one, "/agent/renew": wire.Renewal{Leases: one, LeaseMS: 60_000},
		"/agent/record":           wire.Notes{Notes: []wire.Note{{Lease: a.Lease, Type: "progress"}}},
		"/agent/report":           wire.Told{Notes: []wire.Note{{Lease: a.Lease, Type: "progress"}}, Outcomes: []wire.Outcome{{Lease: a.Lease, Verdict: "failed", Error: "not yours", Final: true}}},
		"/agent/end":              wire.Outcomes{Outcomes: []wire.Outcome{{Lease: a.Lease, Verdict: "failed", Error: "not yours", Final: true}}},
		"/agent/secrets":          wire.Held{Lease: a.Lease},
		"/agent/logs":             wire.Log{Lease: a.Lease, Lines: []byte("{}\n")},
		"/agent/artifacts/begin":  wire.Offer{Lease: a.Lease, Object: wire.Object{Kind: "output", Name: "x", Size: 1}},
		"/agent/artifacts/commit": wire.Offer{Lease: a.Lease, Object: wire.Object{Kind: "output", Name: "a.txt", Size: 5}},
		"/agent/inputs":           wire.Held{Lease: a.Lease},
		"/agent/inputs/content":   wire.Wanted{Lease: a.Lease, Key: "outputs/x"},
	}
	without := map[string]string{
		"/agent/register": "is about the node itself", "/agent/heartbeat": "is about the node itself", "/agent/stop": "is about the node itself", "/agent/detach": "is about the node itself",
		"/agent/faults": "is about the node itself", "/agent/devices": "is about the node itself",
		"/agent/forwards": "is about the node itself", "/agent/forwards/{forward}": "is tried in fleet and app", "/agent/forwards/{forward}/refuse": "is tried in fleet",
		"/agent/claim": "asks for leases of its own", "/agent/artifacts/{task}/{attempt}": "is tried below, its body is no JSON",
	}
	for _, route := range Routes() {
		if !strings.HasPrefix(route.Path, "/agent/") || without[route.Path] != "" {
			continue
		}
		body, ok := bodies[route.Path]
		if !ok {
			t.Errorf("%s is not tried: add it", route.Path)
			continue
		}
		got := n2.call(route.Method, route.Path, body)
		var refusals wire.Refusals
		switch got.status {
		case http.StatusGone:
		case http.StatusOK:
			if got.into(&refusals); len(refusals.Refusals) != 1 || refusals.Refusals[0].Refusal != "lease_lost" {
				t.Errorf("%s: %s", route.Path, got.body)
			}
		default:
			t.Errorf("%s: %d %s", route.Path, got.status, got.body)
		}
		if strings.Contains(string(got.body), "canary-value") {
			t.Errorf("%s tells a secret", route.Path)
		}
	}
	if got := n2.put(a.Lease, "a.txt", "evil!"); got.status != http.StatusGone {
		t.Errorf("upload: %d %s", got.status, got.body)
	}
	if after := r.history(a.Task); after != before {
		t.Errorf("something was written:\n%s\nbefore:\n%s", after, before)
	}
	// A claim with the claim id of another node does not return its leases either.
	var claimed wire.Claimed
	n2.want(http.StatusOK, "POST", "/agent/claim", wire.Claim{ID: claimOne, Services: []string{"render"}, N: 1}).into(&claimed)
	if len(claimed.Items) != 0 {
		t.Errorf("the claim of another gave %+v", claimed)
	}
	// A wrong token is refused like a missing one.
	wrong := a.Lease
	wrong.Token = claimTwo
	n1.want(http.StatusGone, "POST", "/agent/secrets", wire.Held{Lease: wrong})
	none(t, n1.want(http.StatusOK, "POST", "/agent/end", wire.Outcomes{Outcomes: []wire.Outcome{{Lease: a.Lease, Verdict: "done"}}}))
}

// history returns everything that was written about a task: its lease, events, artifacts.
func (r *rig) history(task weir.ID) (text string) {
	r.t.Helper()
	err := r.db.Pool.QueryRow(r.t.Context(), `select concat_ws(E'\n',
		(select string_agg(concat_ws(' ', type, worker, message), '; ' order by seq) from weir.events e where (e.task = $1 or $1 = any (e.tasks)) and e.type <> 'stale'),
		(select until::text from weir.running where task = $1),
		(select string_agg(concat_ws(' ', name, size, sha256), '; ' order by id) from weir.artifacts where task = $1))`, task).Scan(&text)
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

// Only a node has leases, whatever rights other callers have.
func TestAgentRoutesAreForNodes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("boss", auth.Admin)
	for _, a := range []*as{r.login("boss"), r.token("boss", "*:*")} {
		for _, route := range Routes() {
			if strings.HasPrefix(route.Path, "/agent/") {
				a.want(http.StatusForbidden, route.Method, fill(route.Path), map[string]any{})
			}
		}
	}
}

// An upload that does not match its declaration is not recorded.
func TestUploadDamaged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n1 := r.registered("n1")
	r.submit()
	a := n1.claim(claimOne)
	sum := sha256.Sum256([]byte("hello"))
	good := hex.EncodeToString(sum[:])
	for name, c := range map[string]struct {
		query, body string
		status      int
		field       string
	}{
		"other bytes":     {"x&sha256=" + good, "hullo", http.StatusUnprocessableEntity, "sha256"},
		"no sum":          {"x&sha256=zz", "hello", http.StatusUnprocessableEntity, "sha256"},
		"kind":            {"x&kind=moon", "hello", http.StatusUnprocessableEntity, "kind"},
		"leads out":       {"..%2F..%2Fx", "hello", http.StatusUnprocessableEntity, "name"},
		"absolute":        {"%2Fetc%2Fpasswd", "hello", http.StatusUnprocessableEntity, "name"},
		"control":         {"a%0Ab", "hello", http.StatusUnprocessableEntity, "name"},
		"no name":         {"", "hello", http.StatusUnprocessableEntity, "name"},
		"very long":       {strings.Repeat("n", 3000), "hello", http.StatusUnprocessableEntity, "name"},
		"a log by itself": {"x&kind=log", "hello", http.StatusUnprocessableEntity, "kind"},
	} {
		got := n1.put(a.Lease, c.query, c.body)
		if got.status != c.status || got.refusal().Field != c.field {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	n1.want(http.StatusConflict, "POST", "/agent/artifacts/commit", wire.Offer{Lease: a.Lease, Object: wire.Object{Kind: "output", Name: "nothing", Size: 5}})
	if got := n1.put(a.Lease, "good&sha256="+good, "hello"); got.status != http.StatusNoContent {
		t.Errorf("what is right: %d %s", got.status, got.body)
	}
	for _, object := range []wire.Object{{Kind: "output", Name: "good", Size: 6}, {Kind: "output", Name: "good", Size: 5, SHA256: strings.Repeat("0", 64)}} {
		if got := n1.call("POST", "/agent/artifacts/commit", wire.Offer{Lease: a.Lease, Object: object}); got.status != http.StatusUnprocessableEntity || got.refusal().Field != "sha256" {
			t.Errorf("commit of %+v: %d %s", object, got.status, got.body)
		}
	}
	n1.want(http.StatusNoContent, "POST", "/agent/artifacts/commit", wire.Offer{Lease: a.Lease, Object: wire.Object{Kind: "output", Name: "good", Size: 5, SHA256: good}})
	if got := r.history(a.Task); strings.Count(got, good) != 1 {
		t.Errorf("recorded: %s", got)
	}
	request, err := http.NewRequest("PUT", fmt.Sprintf("%s%s/agent/artifacts/%s/1?name=x", r.url, prefix, a.Task), struct{ *strings.Reader }{strings.NewReader("hello")})
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+n1.bearer)
	response, err := n1.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusLengthRequired {
		t.Errorf("without a length: %d", response.StatusCode)
	}
}

// Bodies are bounded, and an invalid claim is refused by its field.
func TestAgentInput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n1 := r.registered("n1")
	for name, c := range map[string]struct {
		path   string
		body   any
		status int
	}{
		"claim without id":     {"/agent/claim", wire.Claim{Services: []string{"render"}, N: 1}, http.StatusUnprocessableEntity},
		"claim of too many":    {"/agent/claim", wire.Claim{ID: claimOne, Services: []string{"render"}, N: 1001}, http.StatusUnprocessableEntity},
		"slots do not fit":     {"/agent/claim", wire.Claim{ID: claimOne, Services: []string{"render"}, Slots: []int{1, 2}, N: 1}, http.StatusUnprocessableEntity},
		"unknown field":        {"/agent/claim", `{"id":"x","services":[],"n":0,"node":"n2"}`, http.StatusUnprocessableEntity},
		"too many leases":      {"/agent/renew", wire.Leases{Leases: make([]wire.Lease, wire.Most+1)}, http.StatusUnprocessableEntity},
		"too large":            {"/agent/claim", `{"id":"` + strings.Repeat("x", bodyLimit) + `"}`, http.StatusRequestEntityTooLarge},
		"a log that is one":    {"/agent/logs", wire.Log{Lease: wire.Lease{Attempt: 1, Token: "x"}, Lines: make([]byte, wire.MostLog+1)}, http.StatusRequestEntityTooLarge},
		"verdict":              {"/agent/end", `{"outcomes":[{"task":"` + claimOne + `","attempt":1,"token":"x","verdict":"great"}]}`, http.StatusUnprocessableEntity},
		"an input that is not": {"/agent/inputs/content", `{"lease": 1}`, http.StatusUnprocessableEntity},
		"nothing":              {"/agent/inputs/content", nil, http.StatusGone},
		"labels":               {"/agent/register", `{"labels":{"a":1}}`, http.StatusUnprocessableEntity},
		"capacity":             {"/agent/register", `{"capacity":{"a":-1}}`, http.StatusUnprocessableEntity},
	} {
		if got := n1.call("POST", c.path, c.body); got.status != c.status {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// A waiting claim ends with its client, and with the server.
func TestClaimEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n1 := r.registered("n1")
	text, err := json.Marshal(wire.Claim{ID: claimOne, Services: []string{"render"}, Slots: []int{1}, N: 1, WaitMS: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context) (*http.Response, error) {
		request, err := http.NewRequestWithContext(ctx, "POST", r.url+prefix+"/agent/claim", strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+n1.bearer)
		request.Header.Set("Content-Type", "application/json")
		return n1.http.Do(request)
	}
	taken := func(n int) {
		t.Helper()
		testwait.Until(t, fmt.Sprint(n, " polls are taken"), func() bool { return r.api.polls.Taken() == n })
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := ask(ctx)
		gone <- err
	}()
	taken(1)
	cancel()
	<-gone
	taken(0) // long before the wait would have ended

	type result struct {
		status int
		err    error
	}
	stopped := make(chan result, 1)
	go func() {
		response, err := ask(t.Context())
		if err != nil {
			stopped <- result{0, err}
			return
		}
		response.Body.Close()
		stopped <- result{response.StatusCode, nil}
	}()
	taken(1)
	r.api.Close()
	if got := <-stopped; got.err != nil || got.status != http.StatusServiceUnavailable {
		t.Errorf("the server stopped: %+v", got)
	}
	taken(0)
	// A server that stops accepts no new claims.
	if got := n1.call("POST", "/agent/claim", string(text)); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("after that: %d", got.status)
	}
}

// A node may not fill the server with waiting claims.
func TestClaimsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n1 := r.registered("n1")
	subject := auth.Subject{Kind: auth.KindNode, ID: "n1", Name: "n1"}
	for range pollsEach {
		leave, err := r.api.polls.Take(subject)
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
	n1.want(http.StatusTooManyRequests, "POST", "/agent/claim", wire.Claim{ID: claimOne, Services: []string{"render"}, N: 1})
	r.registered("n2").want(http.StatusOK, "POST", "/agent/claim", wire.Claim{ID: claimTwo, Services: []string{"render"}, N: 1})
}

// Without desks the routes of agents do not exist.
func TestNoAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Desks = nil })
	n1 := r.node("n1")
	for _, route := range Routes() {
		if strings.HasPrefix(route.Path, "/agent/") {
			got := n1.call(route.Method, fill(route.Path), `{"leases":[],"notes":[],"outcomes":[],"lease":{"task":"`+claimOne+`","attempt":1,"token":"x"}}`)
			if got.status != http.StatusNotFound && got.status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d %s", route.Path, got.status, got.body)
			}
		}
	}
}
