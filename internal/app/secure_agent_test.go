package app

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/httpapi"
	"github.com/weirhq/weir/internal/node/wire"
)

// machine is a node that speaks for itself over HTTP.
type machine struct {
	*fort
	who way
}

// machine joins and registers a node that does the service work.
func (f *fort) machine(name string) *machine {
	f.t.Helper()
	m := &machine{f, bearer(f.node(name))}
	m.wants(http.StatusNoContent, "POST", apiPrefix+"/agent/register", m.who, object("capacity", map[string]int{"work": 8}))
	return m
}

// claim leases a task of the service work, which must be there.
func (m *machine) claim(id string) wire.Assignment {
	m.t.Helper()
	var got wire.Claimed
	m.wants(http.StatusOK, "POST", apiPrefix+"/agent/claim", m.who, object("id", id, "services", []string{"work"}, "slots", []int{1}, "n", 1, "wait_ms", 20_000)).into(m.t, &got)
	if len(got.Items) != 1 {
		m.t.Fatalf("%d tasks were claimed", len(got.Items))
	}
	return got.Items[0]
}

const firstClaim, secondClaim = "01890a5d-ac96-774b-bcce-b302099a8001", "01890a5d-ac96-774b-bcce-b302099a8002"

// A task that says itself how it is run starts programs on machines and names
// secrets. Who may only submit may not say so, by no way in.
func TestSecureRunTakesManage(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	run := map[string]any{"driver": "exec", "argv": []string{"sh", "-c", "env"}, "secrets": map[string]string{"X": "PROD"}}
	task := map[string]any{"service": "work", "run": run}
	plain := map[string]any{"service": "work"}
	tries := map[string]struct {
		method, path string
		evil, fine   way
	}{
		"a task":   {"POST", "/tasks", object("service", "work", "run", run), object("service", "work", "run", nil)},
		"a batch":  {"POST", "/tasks/batch", object("tasks", []any{plain, task}), object("tasks", []any{plain})},
		"a job":    {"POST", "/jobs", object("name", "j", "tasks", []any{plain, task}), object("name", "j", "tasks", []any{plain})},
		"schedule": {"PUT", "/schedules/s", object("spec", "@daily", "task", task), object("spec", "@daily", "task", plain)},
	}
	f.add("op", auth.Operator)
	f.add("keeper", auth.Maintainer)
	operator, _ := f.token("op", "*:*")
	narrow, _ := f.token("keeper", "task:submit", "job:submit", "schedule:manage")
	maintainer, _ := f.token("keeper", "*:*")
	for name, c := range tries {
		for who, secret := range map[string]string{"an operator": operator, "a narrow token": narrow} {
			if got := f.ask(c.method, apiPrefix+c.path, bearer(secret), c.evil); got.StatusCode != http.StatusForbidden {
				t.Errorf("%s of %s: status %d: %.200s", name, who, got.StatusCode, got.body)
			}
		}
		if n := f.text(`select ((select count(*) from weir.tasks where run is not null) + (select count(*) from weir.schedules))::text`); n != "0" {
			t.Errorf("%s: %s are there all the same", name, n)
		}
		if got := f.ask(c.method, apiPrefix+c.path, bearer(narrow), c.fine); got.StatusCode/100 != 2 {
			t.Errorf("%s without it: status %d: %.200s", name, got.StatusCode, got.body)
		}
		f.exec(`delete from weir.schedules`)
	}
	for name, c := range tries {
		if got := f.ask(c.method, apiPrefix+c.path, bearer(maintainer), c.evil); got.StatusCode/100 != 2 {
			t.Errorf("%s of a maintainer: status %d: %.200s", name, got.StatusCode, got.body)
		}
	}
}

// A join token opens the door once, for the node it is for, whatever the race.
func TestSecureJoinReplay(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := with(f.person(auth.Admin))
	invite := func(node string) string {
		var made struct{ Secret string }
		f.wants(http.StatusCreated, "POST", apiPrefix+"/joins", admin, object("node", node, "any", true)).into(t, &made)
		return made.Secret
	}
	join := func(secret, node string) reply {
		return f.ask("POST", apiPrefix+"/join", object("secret", secret, "node", node))
	}
	bound := invite("n1")
	if got := join(bound, "n2"); got.StatusCode < 400 || got.StatusCode >= 500 {
		t.Errorf("for another node: status %d", got.StatusCode)
	}
	secret := invite("n1")
	var won atomic.Int64
	var race sync.WaitGroup
	for range 20 {
		race.Go(func() {
			if join(secret, "n1").StatusCode == http.StatusCreated {
				won.Add(1)
			}
		})
	}
	race.Wait()
	if won.Load() != 1 {
		t.Errorf("a join token worked %d times", won.Load())
	}
	if got := join(secret, "n1"); got.StatusCode < 400 || got.StatusCode >= 500 || strings.Contains(got.body, "weir_node_") {
		t.Errorf("again: status %d: %s", got.StatusCode, got.body)
	}
	late := invite("n3")
	f.exec(`update weir.joins set expires_at = now() - interval '1 s' where node = 'n3'`)
	if got := join(late, "n3"); got.StatusCode < 400 || got.StatusCode >= 500 {
		t.Errorf("too late: status %d", got.StatusCode)
	}
}

// A node that lost its credential is out, also in the middle of its work.
func TestSecureRevokedNode(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	m := f.machine("n1")
	f.exec(`select weir.submit('work')`)
	lease := m.claim(firstClaim).Lease
	if err := f.people.RevokeNode(t.Context(), system, "n1"); err != nil {
		t.Fatal(err)
	}
	for _, r := range httpapi.Routes() {
		if strings.HasPrefix(r.Path, "/agent/") {
			path := strings.NewReplacer("{task}", lease.Task.String(), "{attempt}", "1").Replace(r.Path)
			f.wants(http.StatusUnauthorized, r.Method, apiPrefix+path, m.who, object("lease", lease))
		}
	}
}

// A node names itself by its credential alone, cannot take what is meant for
// another one, and cannot keep a lease for ever.
func TestSecureNodeIsItself(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	m := f.machine("n1")
	m.wants(http.StatusNoContent, "POST", apiPrefix+"/agent/register", m.who, object("labels", map[string]string{"node": "n2"}, "capacity", map[string]int{"work": 8}))
	f.exec(`select weir.submit('work', labels => '{"node": "n2"}')`)
	var got wire.Claimed
	m.wants(http.StatusOK, "POST", apiPrefix+"/agent/claim", m.who, object("id", firstClaim, "services", []string{"work"}, "n", 8)).into(t, &got)
	if len(got.Items) != 0 {
		t.Errorf("it took %+v", got.Items)
	}
	for what, body := range map[string]way{
		"a lease of a year": object("id", secondClaim, "services", []string{"work"}, "n", 1, "lease_ms", 31_536_000_000),
		"too many":          object("id", secondClaim, "services", []string{"work"}, "n", 1_000_000),
		"another name":      object("id", secondClaim, "services", []string{"work"}, "n", 1, "node", "n2"),
		"no id":             object("id", "'; drop table weir.running; --", "services", []string{"work"}, "n", 1),
	} {
		if got := m.ask("POST", apiPrefix+"/agent/claim", m.who, body); got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: status %d: %.200s", what, got.StatusCode, got.body)
		}
	}
	// It cannot speak in the engine's name on the timeline.
	f.exec(`select weir.submit('work')`)
	a := m.claim(secondClaim)
	for _, kind := range strings.Fields(f.text(`select string_agg(distinct event, ' ') || ' started stale' from weir.transition`)) {
		note := map[string]any{"task": a.Task, "attempt": a.Attempt, "token": a.Token, "type": kind}
		got := m.ask("POST", apiPrefix+"/agent/record", m.who, object("notes", []any{note}))
		if got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("it wrote an event %s: status %d: %s", kind, got.StatusCode, got.body)
		}
	}
}

// How a node is woken is data for the server, never a command, a path or an
// address of its choice.
func TestSecureWake(t *testing.T) {
	t.Parallel()
	scripts := t.TempDir()
	ran := filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(filepath.Join(scripts, "good"), []byte("#!/bin/sh\necho \"$@\" >>"+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := besiege(t, func(c *Config, _ *Options) {
		c.WakeScripts, c.WakeURLs = scripts, []string{"https://power.example.org/wake/"}
	})
	f.add("keeper", auth.Maintainer)
	f.add("op", auth.Operator)
	secret, _ := f.token("keeper", "*:*")
	weak, _ := f.token("op", "*:*")
	f.exec(`select weir.register_node('n1')`)
	for _, body := range []way{
		object("method", "script", "script", "../good"), object("method", "script", "script", "/bin/sh"), object("method", "script", "script", "good; id"), object("method", "script", "script", "-c"),
		object("method", "script", "script", "."), object("method", "script", "script", ".."), object("method", "script", "script", "good\x00"), object("method", "script", "script", "missing"),
		object("method", "script", "script", "good", "args", []string{"-rf"}), object("method", "script", "script", "good", "args", []string{"$(id)"}), object("method", "script", "script", "good", "args", []string{"a b"}),
		object("method", "script", "script", "good", "url", "https://power.example.org/wake/x"),
		object("method", "http", "url", "http://169.254.169.254/latest/meta-data"), object("method", "http", "url", "http://127.0.0.1:1/"), object("method", "http", "url", "https://power.example.org.evil.example/wake/x"),
		object("method", "http", "url", "https://power.example.org/wake/../secret"), object("method", "http", "url", "https://power.example.org@evil.example/wake/"), object("method", "http", "url", "file:///etc/passwd"),
		object("method", "http", "url", "http://[::1]/"), object("method", "wol", "mac", "52:54:00:12:34:56", "broadcast", "127.0.0.1:5432"), object("method", "wol", "mac", "52:54:00:12:34:56", "broadcast", "8.8.8.8:9"),
		object("method", "shell", "script", "good"),
	} {
		// Text that holds NUL is no text: 400.
		if got := f.ask("PUT", apiPrefix+"/nodes/n1/wake", bearer(secret), body); got.StatusCode != http.StatusUnprocessableEntity && got.StatusCode != http.StatusBadRequest {
			t.Errorf("status %d: %.300s", got.StatusCode, got.body)
		}
	}
	if got := f.text(`select coalesce(wake_method, '') from weir.nodes where name = 'n1'`); got != "" {
		t.Errorf("it is woken by %s", got)
	}
	f.wants(http.StatusForbidden, "PUT", apiPrefix+"/nodes/n1/wake", bearer(weak), object("method", "script", "script", "good"))
	f.wants(http.StatusForbidden, "POST", apiPrefix+"/nodes/n1/wake", bearer(weak))
	f.wants(http.StatusNoContent, "PUT", apiPrefix+"/nodes/n1/wake", bearer(secret), object("method", "script", "script", "good", "args", []string{"a=b"}))
	// A row that did not come through the API is looked at again.
	f.exec(`update weir.nodes set wake = '{"script": "../../../../bin/sh", "args": ["-c"]}', seen_at = now() - interval '10 min' where name = 'n1'`)
	if got := f.ask("POST", apiPrefix+"/nodes/n1/wake", bearer(secret)); got.StatusCode < 400 || got.StatusCode >= 500 {
		t.Errorf("a row with a path: status %d: %s", got.StatusCode, got.body)
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("the script ran: %s", text)
	}
}

// Definitions and what is given to runs are read by people with few rights. None
// of them costs the server more than a moment, and none is stored.
func TestSecureDefinitions(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	f.add("reader", auth.Viewer)
	f.add("op", auth.Operator)
	reader, _ := f.token("reader", "*:*")
	operator, _ := f.token("op", "*:*")
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		n, m := string(rune('1'+i)), string(rune('0'+i))
		laughs += "a" + n + ": &a" + n + " [" + strings.TrimSuffix(strings.Repeat("*a"+m+",", 9), ",") + "]\n"
	}
	step := func(rest string) string { return "name: bomb\nsteps:\n  - {key: a, service: s, " + rest + "}\n" }
	for name, source := range map[string]string{
		"aliases":     laughs + step("params: {x: *a9}"),
		"ring":        "name: bomb\nsteps: [{key: a, service: s, needs: [b]}, {key: b, service: s, needs: [a]}]",
		"deep":        "name: bomb\nsteps: " + strings.Repeat("[", 100_000),
		"expression":  step(`when: '` + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + `'`),
		"ranges":      step(`map: {over: 'map(1..100000000, map(1..100000000, #))'}`),
		"power":       step(`when: '9**9**9**9 > 0'`),
		"repeat":      step(`when: 'repeat("x", 1000000000) == ""'`),
		"template":    step(`params: {x: "` + strings.Repeat("{{ json .params }}", 20_000) + `"}`),
		"printf":      step(`params: {x: '{{ printf "%1000000000d" 1 }}'}`),
		"call":        step(`params: {x: '{{ call .params.x }}'}`),
		"itself":      "name: bomb\nsteps: [{key: a, workflow: bomb}]",
		"environment": step(`params: {x: '{{ env "WEIR_DATABASE_URL" }}'}`),
		"file":        step(`params: {x: '{{ readFile "/etc/passwd" }}'}`),
		"secrets":     step(`params: {x: '{{ .secrets.PROD }}'}`),
		"schema":      "name: bomb\nparams: {x: {$ref: 'file:///etc/passwd'}}\nsteps: [{key: a, service: s}]",
		"schema URL":  "name: bomb\nparams: {x: {$ref: 'http://127.0.0.1:1/x'}}\nsteps: [{key: a, service: s}]",
		"pattern":     "name: bomb\nparams: {x: {type: string, pattern: '^(a+)+$'}}\nsteps: [{key: a, service: s}]",
	} {
		for _, path := range []string{"/workflows/lint", "/workflows/plan"} {
			got := f.ask("POST", apiPrefix+path, bearer(reader), object("source", source, "params", map[string]any{"x": strings.Repeat("a", 5000) + "!"}))
			if got.StatusCode >= 500 || strings.Contains(got.body, "root:") || len(got.body) > 1<<20 {
				t.Errorf("%s to %s: status %d, %d bytes: %.300s", name, path, got.StatusCode, len(got.body), got.body)
			}
		}
		for who, secret := range map[string]string{"reader": reader, "op": operator} {
			if got := f.ask("PUT", apiPrefix+"/workflows", bearer(secret), object("source", source)); got.StatusCode != http.StatusForbidden {
				t.Errorf("%s stored by %s: status %d", name, who, got.StatusCode)
			}
		}
	}
	if n := f.text(`select count(*)::text from weir.workflows`); n != "0" {
		t.Errorf("%s workflows are there", n)
	}
	f.wants(http.StatusForbidden, "GET", apiPrefix+"/secrets", bearer(operator))
	f.wants(http.StatusForbidden, "PUT", apiPrefix+"/secrets/X", bearer(operator), object("value", "x"))
	f.wants(http.StatusForbidden, "POST", apiPrefix+"/workflows/"+url.PathEscape("x")+"/run", bearer(reader), object())
}
