package httpapi

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
)

// fill puts names that do not exist into a path.
func fill(path string) string {
	return strings.NewReplacer("{task}", "01890a5d-ac96-774b-bcce-b302099a8057", "{job}", "01890a5d-ac96-774b-bcce-b302099a8057").
		Replace(strings.NewReplacer("{pool}", "ghost", "{schedule}", "ghost", "{trigger}", "ghost", "{node}", "ghost", "{worker}", "ghost", "{user}", "ghost", "{token}", "ghost", "{session}", "ghost", "{join}", "ghost",
			"{attempt}", "1", "{workflow}", "ghost", "{artifact}", "1", "{secret}", "ghost",
			"{rollout}", "01890a5d-ac96-774b-bcce-b302099a8057", "{database}", "ghost", "{stage}", "ghost", "{change}", "1", "{serial}", "ghost", "{pc}", "ghost", "{workspace}", "ghost").Replace(path))
}

// Every route is called with every kind of caller, over real HTTP, and compared with Can.
func TestEveryRouteForEveryRole(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	type caller struct {
		as      *as
		subject auth.Subject
	}
	var callers []caller
	for _, role := range auth.Roles() {
		u := r.user("the-"+string(role), role)
		callers = append(callers, caller{r.login(u.Name), auth.Subject{Kind: auth.KindUser, ID: u.ID, Name: u.Name, UserID: u.ID, Role: role}})
		for _, scope := range []string{"*:*", "*:read", "task:submit"} {
			callers = append(callers, caller{r.token(u.Name, scope), auth.Subject{Kind: auth.KindToken, ID: "t", UserID: u.ID, Role: role, Scopes: []string{scope}}})
		}
	}
	callers = append(callers, caller{r.anybody(), auth.Subject{}}, caller{r.node("n1"), auth.Subject{Kind: auth.KindNode, ID: "n1", Name: "n1"}})
	r.user("the-gone", auth.Admin)
	gone := r.login("the-gone")
	if err := r.auth.Disable(t.Context(), system, "the-gone"); err != nil {
		t.Fatal(err)
	}
	checked, tokens := 0, 0
	try := func(route Route) {
		for _, c := range callers {
			may := route.Access == Open || route.Access == Known && c.subject.Kind != "" ||
				auth.Can(c.subject, route.Verb, route.Object(c.subject))
			// Of the tokens that may, a third takes a turn, because most of the work is the answer, and only a refusal proves
			// something about rights.
			if may && c.subject.Kind == auth.KindToken {
				if tokens++; tokens%3 != 0 {
					continue
				}
			}
			got := c.as.call(route.Method, fill(route.Path), nil)
			want := 0
			switch {
			case may:
			case c.subject.Kind == "":
				want = http.StatusUnauthorized
			default:
				want = http.StatusForbidden
			}
			refused := got.status == http.StatusUnauthorized || got.status == http.StatusForbidden
			// Routes that take a secret refuse a wrong one by themselves.
			if may && refused && route.Path != "/join" && route.Path != "/login" || !may && got.status != want || got.status >= 500 {
				t.Errorf("%s %s as %s: status %d, may %v: %s", route.Method, route.Path, c.as.name, got.status, may, got.body)
			}
			if got.status >= 400 {
				got.refusal()
			}
			checked++
		}
		if got := gone.call(route.Method, fill(route.Path), nil); got.status != http.StatusUnauthorized && route.Access != Open {
			t.Errorf("%s %s as a disabled user: status %d", route.Method, route.Path, got.status)
		}
	}
	for _, route := range Routes() {
		if route.Path != "/logout" { // ends the sessions that the others need
			try(route)
		}
	}
	for _, route := range Routes() {
		if route.Path == "/logout" {
			try(route)
		}
	}
	if least := 60 * len(callers); checked < least {
		t.Errorf("%d checks, expected at least %d", checked, least)
	}
}

// The mux and the table hold the same routes, and the mux accepts no other.
func TestTableIsTheMux(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	seen := map[string]bool{}
	for _, route := range Routes() {
		if seen[route.pattern()] {
			t.Errorf("%s is there twice", route.pattern())
		}
		seen[route.pattern()] = true
		request, err := http.NewRequest(route.Method, "http://localhost"+prefix+fill(route.Path), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, pattern := r.api.mux.mux.Handler(request); pattern != route.pattern() {
			t.Errorf("%s is served by %q", route.pattern(), pattern)
		}
		if route.Access == Granted || route.Access == Own {
			if !strings.Contains(strings.Join(auth.Kinds(), " "), route.Kind) || route.Verb == "" {
				t.Errorf("%s asks Can about %q %q", route.pattern(), route.Verb, route.Kind)
			}
		}
	}
	for pattern := range r.api.mux.routes {
		if !seen[pattern] {
			t.Errorf("%s is in the mux and not in the table", pattern)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a pattern beside the table was taken")
		}
	}()
	r.api.mux.HandleFunc("GET /api/v1/secrets", func(http.ResponseWriter, *http.Request) {})
}

// An object of another owner does not exist, and the answer is the same as for one that
// really does not.
func TestForeignThings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("owner", auth.Viewer)
	r.user("boss", auth.Admin)
	owner, boss := r.login("owner"), r.login("boss")
	var made account.TokenMade
	owner.want(http.StatusCreated, "POST", "/tokens", map[string]any{"name": "mine", "scopes": []string{"*:read"}}).into(&made)
	var sessions op.Page[auth.Session]
	owner.want(http.StatusOK, "GET", "/sessions", nil).into(&sessions)
	if len(sessions.Items) != 1 {
		t.Fatalf("%d sessions", len(sessions.Items))
	}
	for _, role := range []auth.Role{auth.Viewer, auth.Operator, auth.Maintainer} {
		r.user("a-"+string(role), role)
		other := r.login("a-" + string(role))
		for _, c := range []struct{ method, path, absent string }{
			{"DELETE", "/tokens/" + made.Token.ID, "/tokens/01890a5d-ac96-774b-bcce-b302099a8057"},
			{"DELETE", "/sessions/" + sessions.Items[0].ID, "/sessions/01890a5d-ac96-774b-bcce-b302099a8057"},
			{"GET", "/users/owner", "/users/ghost"},
			{"GET", "/sessions?user=owner", "/sessions?user=ghost"},
		} {
			got, absent := other.call(c.method, c.path, nil), other.call(c.method, c.absent, nil)
			x, y := got.refusal(), absent.refusal()
			x.Instance, y.Instance = "", ""
			if got.status != http.StatusNotFound || !reflect.DeepEqual(x, y) {
				t.Errorf("%s %s as %s: %d %+v; for nothing: %+v", c.method, c.path, role, got.status, x, y)
			}
		}
		other.want(http.StatusForbidden, "GET", "/tokens?all=true", nil)
		other.want(http.StatusForbidden, "GET", "/users", nil)
		got := other.call("PUT", "/users/owner/password", map[string]string{"new": "another good password"})
		if got.status != http.StatusNotFound {
			t.Errorf("the password of another: %d %s", got.status, got.body)
		}
		if got := other.call("GET", "/sessions?all=true", nil); got.status != http.StatusForbidden && got.status != http.StatusNotFound {
			t.Errorf("everybody's sessions: %d", got.status)
		}
	}
	boss.want(http.StatusOK, "GET", "/users/owner", nil)
	boss.want(http.StatusOK, "GET", "/sessions?user=owner", nil)
	boss.want(http.StatusNoContent, "DELETE", "/tokens/"+made.Token.ID, nil)
	boss.want(http.StatusNoContent, "DELETE", "/sessions/"+sessions.Items[0].ID, nil)
	owner.want(http.StatusUnauthorized, "GET", "/tasks", nil)
}

// A node sees itself and nothing else.
func TestNodeSeesItself(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"n1", "n2"} {
		if _, err := r.db.Pool.Exec(t.Context(), `select weir.register_node($1)`, name); err != nil {
			t.Fatal(err)
		}
	}
	n1 := r.node("n1")
	n1.want(http.StatusOK, "GET", "/nodes/n1", nil)
	n1.want(http.StatusNotFound, "GET", "/nodes/n2", nil)
	n1.want(http.StatusForbidden, "GET", "/nodes", nil)
	n1.want(http.StatusForbidden, "GET", "/tasks", nil)
	var me account.Identity
	n1.want(http.StatusOK, "GET", "/me", nil).into(&me)
	if me.Kind != "node" || me.Name != "n1" {
		t.Errorf("got %+v", me)
	}
}

// Events about accounts are for admins alone, on every way of reading them.
func TestAuditEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("boss", auth.Admin)
	r.user("ada", auth.Maintainer)
	boss, ada := r.login("boss"), r.login("ada")
	for _, path := range []string{"/timeline?limit=100", "/timeline?after=0.0&limit=100", "/timeline?kind=auth"} {
		var seen, hidden op.Page[struct{ Kind string }]
		boss.want(http.StatusOK, "GET", path, nil).into(&seen)
		ada.want(http.StatusOK, "GET", path, nil).into(&hidden)
		if len(seen.Items) == 0 {
			t.Errorf("%s: an admin sees nothing", path)
		}
		for _, e := range hidden.Items {
			if e.Kind == "auth" {
				t.Errorf("%s: a maintainer sees %+v", path, e)
			}
		}
	}
}

// A token that may read one kind finds nothing of the others.
func TestSearchWithinScopes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("ada", auth.Maintainer)
	whole, narrow := r.token("ada", "*:*"), r.token("ada", "task:read")
	whole.want(http.StatusCreated, "PUT", "/pools/canary", map[string]any{"size": 1})
	whole.want(http.StatusCreated, "POST", "/jobs", map[string]any{"name": "canary", "tasks": []any{map[string]string{"service": "canary"}}})
	kinds := func(a *as) map[string]bool {
		var hits op.Page[struct{ Kind string }]
		a.want(http.StatusOK, "GET", "/search?q=canary", nil).into(&hits)
		seen := map[string]bool{}
		for _, h := range hits.Items {
			seen[h.Kind] = true
		}
		return seen
	}
	if all := kinds(whole); !all["pool"] || !all["job"] {
		t.Fatalf("found %v", all)
	}
	if few := kinds(narrow); few["pool"] || few["job"] || len(few) == 0 {
		t.Errorf("a token for tasks found %v", few)
	}
	var o struct{ Jobs []any }
	narrow.want(http.StatusOK, "GET", "/overview", nil).into(&o)
	if len(o.Jobs) != 0 {
		t.Errorf("a token for tasks saw %v", o.Jobs)
	}
}
