package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/httpapi"
)

// caller is somebody with the rights that they should have.
type caller struct {
	name    string
	subject auth.Subject
	ways    []way
}

// callers are people, tokens and a node of every kind, and nobody.
func (f *fort) callers() (all []caller) {
	f.t.Helper()
	for _, role := range auth.Roles() {
		cookie := f.person(role)
		name := "the-" + string(role)
		u, err := f.people.User(f.t.Context(), name)
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, caller{name, auth.Subject{Kind: auth.KindUser, ID: u.ID, Name: name, UserID: u.ID, Role: role}, []way{with(cookie)}})
		for _, scope := range []string{"*:*", "*:read", "task:command"} {
			secret, token := f.token(name, scope)
			all = append(all, caller{name + " " + scope, auth.Subject{Kind: auth.KindToken, ID: token.ID, UserID: u.ID, Role: role, Scopes: []string{scope}}, []way{bearer(secret)}})
		}
	}
	node := caller{"node", auth.Subject{Kind: auth.KindNode, ID: "n1", Name: "n1"}, []way{bearer(f.node("n1"))}}
	return append(all, node, caller{name: "nobody"})
}

// ghost puts things into a path that are not there: whoever may gets 404, and
// nothing changes.
func ghost(path string) string {
	x := furniture{name: "ghost", task: noID, job: noID, token: noID, session: noID, join: noID}
	return strings.Replace(x.path(path), "/users/owner", "/users/ghost", 1)
}

const noID = "01890a5d-ac96-774b-bcce-b302099a8057"

// Every page, file and action of the dashboard with every kind of caller,
// against what Can says.
func TestSecureDashboardRoles(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	callers := f.callers()
	before := f.state()
	for i, route := range dashboard(t) {
		for j, c := range callers {
			object := auth.Object{Kind: route.Kind}
			if route.Own {
				object.Owner = c.subject.UserID
			}
			may := auth.Can(c.subject, route.Verb, object)
			// A page is written for every person who may read it, and for a third of their tokens in turn: most of the work is
			// the page, and no answer but a refusal tells of rights.
			if may && c.subject.Kind == auth.KindToken && route.Method == http.MethodGet && (i+j)%3 != 0 {
				continue
			}
			got := f.ask(route.Method, ghost(route.Path), append(c.ways, form())...)
			switch {
			case got.StatusCode >= 500:
				t.Errorf("%s %s as %s: status %d", route.Method, route.Path, c.name, got.StatusCode)
			case !may && c.subject.Nobody() && (got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(got.to(), "/login")):
				t.Errorf("%s %s as nobody: status %d to %q", route.Method, route.Path, got.StatusCode, got.to())
			case !may && !c.subject.Nobody() && got.StatusCode != http.StatusForbidden:
				t.Errorf("%s %s as %s: status %d, and they may not", route.Method, route.Path, c.name, got.StatusCode)
			case may && (got.StatusCode == http.StatusForbidden || got.StatusCode == http.StatusUnauthorized || strings.HasPrefix(got.to(), "/login")):
				t.Errorf("%s %s as %s: status %d to %q, and they may: %.200s", route.Method, route.Path, c.name, got.StatusCode, got.to(), got.body)
			}
		}
	}
	if after := f.state(); after != before {
		t.Errorf("something changed:\n%s", differ(before, after))
	}
}

// What is somebody else's is not there for others, by any way in, and stays.
func TestSecureForeignThings(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	x := f.furnish("thing")
	callers := f.callers()
	before := f.state()
	for _, c := range callers {
		if c.subject.Role == auth.Admin || c.subject.Nobody() {
			continue
		}
		for _, e := range []entrance{
			{"POST", "/tokens/{token}/revoke", false},
			{"POST", "/sessions/{session}/revoke", false},
			{"DELETE", apiPrefix + "/tokens/{token}", true},
			{"DELETE", apiPrefix + "/sessions/{session}", true},
			{"GET", apiPrefix + "/users/{user}", true},
			{"PUT", apiPrefix + "/users/{user}/password", true},
			{"GET", apiPrefix + "/sessions?user=owner", true},
			{"GET", "/users/{user}", false},
			{"GET", "/tokens?whose=all", false},
			{"GET", "/tokens?whose=owner", false},
			{"GET", apiPrefix + "/tokens?all=true", true},
			{"GET", "/account?user=owner", false},
		} {
			got := f.ask(e.method, x.path(e.path), append(c.ways, object("password", goodPassword+"!", "old", goodPassword))...)
			if e.method != "GET" {
				got = f.ask(e.method, x.path(e.path), c.ways...)
			}
			listed := strings.Contains(got.body, x.token) || strings.Contains(got.body, x.session)
			if e.method == "GET" && listed || e.method != "GET" && got.StatusCode < 400 || got.StatusCode >= 500 {
				t.Errorf("%s %s as %s: status %d: %.300s", e.method, e.path, c.name, got.StatusCode, got.body)
			}
		}
	}
	if after := f.state(); after != before {
		t.Errorf("something changed:\n%s", differ(before, after))
	}
}

// A node's credential reads the node itself and nothing else on any face.
func TestSecureNodeScope(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	x := f.furnish("thing")
	node := bearer(f.node("n1"))
	f.exec(`select weir.register_node('n1')`)
	before := f.state()
	for _, r := range httpapi.Routes() {
		if strings.HasPrefix(r.Path, "/agent/") {
			continue // its own; httpapi.TestForeignLeases tries them on what is another's
		}
		path := apiPrefix + x.path(r.Path)
		got := f.ask(r.Method, path, node)
		fine := r.Access == httpapi.Open || r.Access == httpapi.Known
		if !fine && got.StatusCode != http.StatusForbidden && got.StatusCode != http.StatusNotFound {
			t.Errorf("%s %s: status %d: %.200s", r.Method, path, got.StatusCode, got.body)
		}
	}
	for _, r := range dashboard(t) {
		f.wants(http.StatusForbidden, r.Method, x.path(r.Path), node)
	}
	f.wants(http.StatusForbidden, "GET", "/metrics", node)
	f.wants(http.StatusOK, "GET", apiPrefix+"/nodes/n1", node)
	f.wants(http.StatusNotFound, "GET", apiPrefix+"/nodes/thing", node)
	f.wants(http.StatusNotFound, "GET", apiPrefix+"/nodes/ghost", node)
	if after := f.state(); after != before {
		t.Errorf("something changed:\n%s", differ(before, after))
	}
	if err := f.people.RevokeNode(t.Context(), system, "n1"); err != nil {
		t.Fatal(err)
	}
	f.wants(http.StatusUnauthorized, "GET", apiPrefix+"/nodes/n1", node)
}
