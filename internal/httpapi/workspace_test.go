package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
	"github.com/weirhq/weir/internal/workspace/provider/process"
)

// newYard returns a rig with workspaces on this machine; none is started.
func newYard(t *testing.T, offers ...string) *rig {
	t.Helper()
	r := newRig(t)
	local := r.api.config.Operations.(op.Local)
	containers, err := docker.New(docker.Config{Install: "test", Host: "unix:///nowhere.sock", Images: []string{"go"}})
	if err != nil {
		t.Fatal(err)
	}
	local.Stores = append(local.Stores, &workspace.Host{
		Store: workspace.New(r.db.Pool), Users: auth.New(r.db.Pool, auth.Options{}), Offered: append(offers, "docker", "process"),
		Providers: []provider.Provider{containers, process.New(process.Config{Dir: t.TempDir()})},
		Address:   workspace.Address{Scheme: "http", Domain: "localhost", Port: "8470"},
	})
	r.api.config.Operations = local
	return r
}

// made is a workspace in the form of the answer.
type made struct {
	ID, Name, Owner, Provider, Image, Phase, Desired, Operation string
	StandbyTTL                                                  string `json:"standby_ttl"`
	Next                                                        *struct{ What string }
}

// A workspace is created once for a key, found by its name, changed, moved to another
// phase and deleted; the timeline records it.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	r := newYard(t)
	r.user("otto", auth.Operator)
	otto := r.token("otto", "*:*")
	var w made
	body := map[string]any{"name": "notes", "description": "for ideas", "standby_ttl": "15m"}
	answer := otto.want(http.StatusCreated, "POST", "/workspaces", body, "Idempotency-Key", "k1")
	answer.into(&w)
	if w.Provider != "docker" || w.Desired != "RUNNING" || w.Phase != "PENDING" || w.Owner != "otto" || w.StandbyTTL != "15m0s" || answer.header.Get("Location") != prefix+"/workspaces/"+w.ID {
		t.Errorf("made: %+v at %s", w, answer.header.Get("Location"))
	}
	var again made
	otto.want(http.StatusOK, "POST", "/workspaces", body, "Idempotency-Key", "k1").into(&again)
	if again.ID != w.ID {
		t.Errorf("the same key made another: %s and %s", w.ID, again.ID)
	}
	otto.want(http.StatusConflict, "POST", "/workspaces", map[string]any{"name": "notes"})
	if p := otto.want(http.StatusUnprocessableEntity, "POST", "/workspaces", map[string]any{"name": "Not A Name"}).refusal(); p.Field != "name" {
		t.Errorf("the field is %q: %s", p.Field, p.Detail)
	}
	if p := otto.want(http.StatusUnprocessableEntity, "POST", "/workspaces", map[string]any{"name": "x", "provider": "k8s"}).refusal(); p.Field != "provider" || !strings.Contains(p.Next, "docker, process") {
		t.Errorf("refused with %+v", p)
	}
	if p := otto.want(http.StatusUnprocessableEntity, "POST", "/workspaces", map[string]any{"name": "x", "archive_ttl": "5s"}).refusal(); p.Field != "archive_ttl" {
		t.Errorf("refused with %+v", p)
	}
	if p := otto.want(http.StatusUnprocessableEntity, "PATCH", "/workspaces/notes", map[string]any{"standby_ttl": "5s"}).refusal(); p.Field != "standby_ttl" {
		t.Errorf("refused with %+v", p)
	}
	otto.want(http.StatusUnprocessableEntity, "GET", "/workspaces?provider=zz", nil)
	otto.want(http.StatusOK, "GET", "/workspaces/notes", nil)
	for method, path := range map[string]string{"POST": "/workspaces", "PATCH": "/workspaces/notes"} {
		if p := otto.want(http.StatusUnprocessableEntity, method, path, map[string]any{"name": "x", "image": "evil:1"}).refusal(); p.Field != "image" || !strings.Contains(p.Next, "workspace_images") {
			t.Errorf("%s: refused with %+v", method, p)
		}
	}
	otto.want(http.StatusOK, "PATCH", "/workspaces/notes", map[string]any{"name": "ideas", "standby_ttl": "0s", "image": "go:1.26"}).into(&again)
	if again.Name != "ideas" || again.Image != "go:1.26" || again.StandbyTTL != "10m0s" {
		t.Errorf("changed: %+v", again)
	}
	var list struct{ Items []made }
	otto.want(http.StatusOK, "GET", "/workspaces?search=ide", nil).into(&list)
	if len(list.Items) != 1 || list.Items[0].ID != w.ID {
		t.Errorf("listed: %+v", list)
	}
	var did struct{ Changed bool }
	otto.want(http.StatusOK, "POST", "/workspaces/ideas/archive", nil).into(&did)
	if !did.Changed {
		t.Error("nothing was changed")
	}
	var why workspace.Why
	otto.want(http.StatusOK, "GET", "/workspaces/ideas/why", nil).into(&why)
	if len(why.Parts) == 0 || !strings.Contains(why.Parts[0].Text, "ARCHIVED is wanted by otto") {
		t.Errorf("why: %+v", why)
	}
	var log struct{ Items []workspace.Entry }
	r.db.Settle(t)
	otto.want(http.StatusOK, "GET", "/workspaces/ideas/log", nil).into(&log)
	if len(log.Items) < 3 || log.Items[0].Type != "wanted" || log.Items[0].By != "otto (token *:*)" {
		t.Errorf("log: %+v", log.Items)
	}
	otto.want(http.StatusOK, "GET", "/workspaces/ideas/archives", nil)
	otto.want(http.StatusOK, "DELETE", "/workspaces/ideas?reason=enough", nil).into(&did)
	if !did.Changed {
		t.Error("nothing was deleted")
	}
	otto.want(http.StatusNotFound, "POST", "/workspaces/"+w.ID+"/start", nil)
	otto.want(http.StatusNotFound, "GET", "/workspaces/nothing", nil)
}

// While an operation is under way no other phase can be requested; over the limit nothing
// starts, and the answer names what runs.
func TestWorkspaceRefusals(t *testing.T) {
	t.Parallel()
	r := newYard(t)
	r.user("otto", auth.Operator)
	otto := r.token("otto", "*:*")
	otto.want(http.StatusCreated, "POST", "/workspaces", map[string]any{"name": "one"})
	r.exec(`update weir.workspaces set operation = 'STARTING', op_id = gen_random_uuid(), op_started_at = now(), op_progress_at = now()`)
	if p := otto.want(http.StatusConflict, "POST", "/workspaces/one/stop", nil).refusal(); !strings.Contains(p.Detail, "STARTING is under way") || p.Next == "" {
		t.Errorf("refused with %+v", p)
	}
	r.exec(`update weir.workspaces set operation = 'NONE', op_id = null, op_started_at = null, op_progress_at = null`)
	otto.want(http.StatusCreated, "POST", "/workspaces", map[string]any{"name": "two"})
	p := otto.want(http.StatusTooManyRequests, "POST", "/workspaces", map[string]any{"name": "three"}).refusal()
	var limit workspace.Limit
	if err := json.Unmarshal(p.Data, &limit); err != nil {
		t.Fatalf("%v: %s", err, p.Data)
	}
	if p.Code != "too_many" || limit.Type != "user" || limit.Current != 2 || limit.Max != 2 || len(limit.Running) != 2 {
		t.Errorf("refused with %+v, limit %+v", p, limit)
	}
	// A workspace that does not start is not limited.
	otto.want(http.StatusCreated, "POST", "/workspaces", map[string]any{"name": "three", "desired": "ARCHIVED"})
	otto.want(http.StatusTooManyRequests, "POST", "/workspaces/three/start", nil)
}

// A workspace belongs to its owner. For others it does not exist; an admin reaches all of
// them. A workspace that runs as the server itself takes an admin.
func TestWorkspacesAreOnesOwn(t *testing.T) {
	t.Parallel()
	r := newYard(t)
	for name, role := range map[string]auth.Role{"otto": auth.Operator, "olga": auth.Operator, "vera": auth.Viewer, "ada": auth.Admin} {
		r.user(name, role)
	}
	otto, olga, vera, ada := r.token("otto", "*:*"), r.token("olga", "*:*"), r.token("vera", "*:*"), r.token("ada", "*:*")
	var w made
	otto.want(http.StatusCreated, "POST", "/workspaces", map[string]any{"name": "notes"}).into(&w)
	for _, path := range []string{"", "/why", "/log", "/logs", "/archives"} {
		olga.want(http.StatusNotFound, "GET", "/workspaces/"+w.ID+path, nil)
		olga.want(http.StatusNotFound, "GET", "/workspaces/otto%2Fnotes"+path, nil)
	}
	for _, path := range []string{"/start", "/stop", "/archive", "/recover", "/open"} {
		olga.want(http.StatusNotFound, "POST", "/workspaces/"+w.ID+path, nil)
	}
	olga.want(http.StatusNotFound, "PATCH", "/workspaces/"+w.ID, map[string]any{"name": "mine"})
	olga.want(http.StatusNotFound, "DELETE", "/workspaces/"+w.ID, nil)
	olga.want(http.StatusForbidden, "GET", "/workspaces?all=true", nil)
	olga.want(http.StatusForbidden, "GET", "/workspaces?owner=otto", nil)
	olga.want(http.StatusForbidden, "POST", "/workspaces", map[string]any{"name": "theirs", "owner": "otto"})
	var list struct{ Items []made }
	olga.want(http.StatusOK, "GET", "/workspaces", nil).into(&list)
	if len(list.Items) != 0 {
		t.Errorf("olga sees %+v", list)
	}
	vera.want(http.StatusOK, "GET", "/workspaces", nil)
	vera.want(http.StatusForbidden, "POST", "/workspaces", map[string]any{"name": "notes"})

	ada.want(http.StatusOK, "GET", "/workspaces?all=true", nil).into(&list)
	if len(list.Items) != 1 {
		t.Errorf("the admin sees %+v", list)
	}
	ada.want(http.StatusOK, "GET", "/workspaces/otto%2Fnotes", nil)
	ada.want(http.StatusCreated, "POST", "/workspaces", map[string]any{"name": "second", "owner": "otto", "desired": "ARCHIVED"})

	otto.want(http.StatusForbidden, "POST", "/workspaces", map[string]any{"name": "shell", "provider": "process"})
	ada.want(http.StatusCreated, "POST", "/workspaces", map[string]any{"name": "shell", "provider": "process", "owner": "otto", "desired": "STANDBY"})
	otto.want(http.StatusForbidden, "POST", "/workspaces/shell/start", nil)
	otto.want(http.StatusForbidden, "POST", "/workspaces/shell/open", nil)
	// Clearing an error starts a workspace again if it should run.
	otto.want(http.StatusOK, "POST", "/workspaces/shell/recover", nil)
	r.exec(`update weir.workspaces set desired = 'RUNNING' where name = 'shell'`)
	otto.want(http.StatusForbidden, "POST", "/workspaces/shell/recover", nil)
	var opened workspace.Opened
	otto.want(http.StatusOK, "POST", "/workspaces/notes/open", nil).into(&opened)
	if !strings.HasPrefix(opened.URL, "http://ws-"+w.ID+".localhost:8470/_weir/enter?code=") {
		t.Errorf("opened at %s", opened.URL)
	}
	otto.want(http.StatusForbidden, "PUT", "/workspace-policy", map[string]any{"per_user": 9})
	var policy struct {
		PerUser int `json:"per_user"`
	}
	ada.want(http.StatusOK, "PUT", "/workspace-policy", map[string]any{"per_user": 9}).into(&policy)
	otto.want(http.StatusOK, "GET", "/workspace-policy", nil)
	if policy.PerUser != 9 {
		t.Errorf("the policy is %+v", policy)
	}
}

// Without a provider the first one that the caller may use is chosen, not one that takes
// an admin.
func TestWorkspaceProviderForWhoAsks(t *testing.T) {
	t.Parallel()
	r := newYard(t, "process")
	r.user("otto", auth.Operator)
	r.user("ada", auth.Admin)
	otto, ada := r.token("otto", "*:*"), r.token("ada", "*:*")
	var his, hers made
	otto.want(http.StatusCreated, "POST", "/workspaces", map[string]any{"name": "notes"}).into(&his)
	ada.want(http.StatusCreated, "POST", "/workspaces", map[string]any{"name": "notes"}).into(&hers)
	if his.Provider != "docker" || hers.Provider != "process" {
		t.Errorf("the operator's runs on %s, the admin's on %s", his.Provider, hers.Provider)
	}
	for _, store := range r.api.config.Operations.(op.Local).Stores {
		if host, ok := store.(*workspace.Host); ok {
			host.Offered = []string{"process"}
		}
	}
	otto.want(http.StatusForbidden, "POST", "/workspaces", map[string]any{"name": "second"})
}

// A server without workspaces answers so.
func TestNoWorkspaces(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Admin)
	ada := r.token("ada", "*:*")
	for _, path := range []string{"/workspaces", "/workspaces/x", "/workspace-policy"} {
		if p := ada.want(http.StatusNotFound, "GET", path, nil).refusal(); !strings.Contains(p.Detail, "keeps no workspaces") {
			t.Errorf("%s: %s", path, p.Detail)
		}
	}
}

// Events of workspaces are for admins alone, because they contain the names of other
// users' workspaces.
func TestWorkspaceEventsArePrivate(t *testing.T) {
	t.Parallel()
	r := newYard(t)
	r.user("otto", auth.Operator)
	r.user("ada", auth.Admin)
	r.token("otto", "*:*").want(http.StatusCreated, "POST", "/workspaces", map[string]any{"name": "secret-plan"})
	r.db.Settle(t)
	r.user("olga", auth.Operator)
	ada, olga := r.token("ada", "*:*"), r.token("olga", "*:*")
	if got := ada.want(http.StatusOK, "GET", "/timeline?kind=workspace", nil); !strings.Contains(string(got.body), "secret-plan") {
		t.Errorf("the admin does not see it: %s", got.body)
	}
	for _, path := range []string{"/timeline", "/timeline?kind=workspace"} {
		if got := olga.want(http.StatusOK, "GET", path, nil); strings.Contains(string(got.body), "secret-plan") {
			t.Errorf("%s tells others: %s", path, got.body)
		}
	}
}

// A workspace of another user is refused in the same words as one that does not exist,
// because different words would reveal its owner.
func TestWorkspacesAreNotTold(t *testing.T) {
	t.Parallel()
	r := newYard(t)
	r.user("otto", auth.Operator)
	r.user("olga", auth.Operator)
	olga := r.token("olga", "*:*")
	var w made
	r.token("otto", "*:*").want(http.StatusCreated, "POST", "/workspaces", map[string]any{"name": "notes"}).into(&w)
	for there, missing := range map[string]string{"otto%2Fnotes": "otto%2Fnever", w.ID: "01890a5d-ac96-774b-bcce-b302099a8057", strings.ToUpper(w.ID): "01890A5D-AC96-774B-BCCE-B302099A8057"} {
		told := func(ref, name string) string {
			p := olga.want(http.StatusNotFound, "GET", "/workspaces/"+ref, nil).refusal()
			return strings.NewReplacer(name, "NAME", strings.ToLower(ref), "NAME").Replace(p.Detail + " | " + p.Next)
		}
		if a, b := told(there, "otto/notes"), told(missing, "otto/never"); a != b {
			t.Errorf("%q is told from %q", a, b)
		}
	}
	p := olga.want(http.StatusForbidden, "POST", "/workspaces", map[string]any{"name": "shell", "provider": "process"}).refusal()
	if !strings.Contains(p.Detail, "runs as the server itself") || !strings.Contains(p.Next, "docker") {
		t.Errorf("refused with %+v", p)
	}
}
