package auth

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/problem"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

// mark returns one character for what a subject may do to objects of another owner, of
// its own and without an owner.
func mark(s Subject, v Verb, kind string) string {
	own, others, nobodys := Can(s, v, Object{kind, "me"}), Can(s, v, Object{kind, "somebody"}), Can(s, v, Object{kind, ""})
	if others != nobodys {
		return "?"
	}
	switch {
	case own && others:
		return "yes"
	case own:
		return "own"
	case others:
		return "?"
	default:
		return "-"
	}
}

// table is all of Can in one text: every kind × verb × role, for users, for tokens with
// all scopes, and for nodes.
func table() string {
	var b strings.Builder
	b.WriteString("# Who may do what: \"own\" is what belongs to oneself, \"-\" is nothing. Every pair that is not here: nobody.\n")
	fmt.Fprintf(&b, "%-10s %-11s", "kind", "verb")
	for _, role := range Roles() {
		fmt.Fprintf(&b, " %-11s", role)
	}
	for _, role := range Roles() {
		fmt.Fprintf(&b, " %-18s", role+"'s token")
	}
	b.WriteString(" node\n")
	for _, kind := range Kinds() {
		for _, verb := range Verbs() {
			line := fmt.Sprintf("%-10s %-11s", kind, verb)
			any := false
			for _, role := range Roles() {
				m := mark(Subject{Kind: KindUser, ID: "me", UserID: "me", Role: role}, verb, kind)
				any = any || m != "-"
				line += fmt.Sprintf(" %-11s", m)
			}
			for _, role := range Roles() {
				m := mark(Subject{Kind: KindToken, ID: "t", UserID: "me", Role: role, Scopes: []string{"*:*"}}, verb, kind)
				any = any || m != "-"
				line += fmt.Sprintf(" %-18s", m)
			}
			m := mark(Subject{Kind: KindNode, ID: "me", Name: "me"}, verb, kind)
			if any || m != "-" {
				b.WriteString(line + " " + m + "\n")
			}
		}
	}
	return b.String()
}

// TestRights compares the table with its text form, which people read in review.
func TestRights(t *testing.T) {
	const file = "testdata/rights.txt"
	if *rewrite {
		if err := os.WriteFile(file, []byte(table()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if table() != string(want) {
		t.Errorf("the rights moved:\n%s\nIf that is meant: go test ./internal/auth -run TestRights -rewrite", table())
	}
}

// TestCan walks role × verb × kind × owner and compares with a naive twin that is written
// from the specification, not from the table.
func TestCan(t *testing.T) {
	kinds := append(Kinds(), "unheard-of", "")
	for _, kind := range kinds {
		for _, verb := range append(Verbs(), "unheard-of", "") {
			for i, role := range append(Roles(), "unheard-of", "") {
				for _, owner := range []string{"", "me", "somebody"} {
					o := Object{kind, owner}
					user := Subject{Kind: KindUser, ID: "me", UserID: "me", Role: role}
					want := i < len(Roles()) && twin(i, verb, kind, owner == "me")
					if got := Can(user, verb, o); got != want {
						t.Errorf("%s %s %s (of %q): %v, the specification says %v", role, verb, kind, owner, got, want)
					}
					personal := slices.Contains([]string{"user", "token", "session"}, kind) && verb != Read
					token := Subject{Kind: KindToken, ID: "t", UserID: "me", Role: role, Scopes: []string{"*:*"}}
					if got := Can(token, verb, o); got != (want && !personal) {
						t.Errorf("token of %s %s %s (of %q): %v", role, verb, kind, owner, got)
					}
					token.Scopes = []string{"pool:read"}
					if got := Can(token, verb, o); got != (want && kind == "pool" && verb == Read) {
						t.Errorf("token with pool:read of %s %s %s: %v", role, verb, kind, got)
					}
					if Can(Subject{}, verb, o) || Can(Subject{Kind: "unheard-of", Role: Admin, UserID: "me"}, verb, o) {
						t.Errorf("nobody may %s %s", verb, kind)
					}
					node := Subject{Kind: KindNode, ID: "me", Name: "me", Role: role}
					if got := Can(node, verb, o); got != (owner == "me" && (kind == "node" && (verb == Read || verb == Command) || kind == "lease" && verb == Command)) {
						t.Errorf("node %s %s of %q: %v", verb, kind, owner, got)
					}
					listed := slices.ContainsFunc(rights, func(r right) bool { return r.kind == kind && r.verb == verb })
					if got := Can(System("x"), verb, o); got != listed {
						t.Errorf("the system may %s %s: %v, in the table: %v", verb, kind, got, listed)
					}
				}
			}
		}
	}
}

// twin is the specification as code: viewer 0 … admin 3.
func twin(role int, verb Verb, kind string, own bool) bool {
	switch kind {
	case "task", "job", "rollout":
		return verb == Read || (verb == Submit || verb == Command) && role >= 1 || verb == Override && role >= 2
	case "fleet":
		return verb == Read || verb == Command && role >= 1 || (verb == Submit || verb == Manage) && role >= 2
	case "device":
		return verb == Read || verb == Command && role >= 1 || verb == Override && role == 3
	case "forward":
		return verb == Submit && role >= 1
	case "pool", "schedule", "trigger", "node", "database", "pc":
		return verb == Read || verb == Manage && role >= 2
	case "worker", "event", "metrics", "artifact":
		return verb == Read
	case "health": // a deep report takes the database minutes
		return verb == Read || verb == Administer && role == 3
	case "workflow":
		return verb == Read || verb == Submit && role >= 1 || verb == Manage && role >= 2
	case "join":
		return (verb == Read || verb == Manage) && role >= 2
	case "secret": // sealing all of them anew is for the holder of the keys
		return (verb == Read || verb == Manage) && role >= 2 || verb == Administer && role == 3
	case "workspace":
		return verb == Read && (own || role == 3) || (verb == Submit || verb == Command) && (own && role >= 1 || role == 3) || (verb == Manage || verb == Administer) && role == 3
	case "audit":
		return verb == Read && role == 3
	case "user", "token", "session":
		return (verb == Read || verb == Manage) && (own || role == 3) || verb == Administer && role == 3
	default:
		return false
	}
}

func TestAllow(t *testing.T) {
	ada := Subject{Kind: KindUser, ID: "1", UserID: "1", Name: "ada", Role: Viewer}
	ci := Subject{Kind: KindToken, ID: "2", UserID: "1", Name: "ada", Token: "ci", Role: Admin, Scopes: []string{"task:read"}}
	node := Subject{Kind: KindNode, ID: "n1", Name: "n1"}
	must(t, Allow(ada, Read, Object{Kind: "task"}))
	for name, c := range map[string]struct {
		s    Subject
		v    Verb
		o    Object
		kind problem.Kind
		says string
	}{
		"nobody":        {Subject{}, Read, Object{Kind: "task"}, problem.Unauthenticated, "not known who"},
		"role":          {ada, Submit, Object{Kind: "task"}, problem.Forbidden, "role operator"},
		"foreign":       {ada, Manage, Object{"token", "9"}, problem.NotFound, "no such token"},
		"admin only":    {ada, Administer, Object{Kind: "user"}, problem.Forbidden, "role admin"},
		"scope":         {ci, Submit, Object{Kind: "task"}, problem.Forbidden, "task:submit"},
		"personal":      {ci, Manage, Object{"token", "1"}, problem.Forbidden, "a token may not"},
		"unknown kind":  {ada, Read, Object{Kind: "moon"}, problem.Forbidden, "nobody may"},
		"node":          {node, Read, Object{Kind: "task"}, problem.Forbidden, "only ask about itself"},
		"other node":    {node, Read, Object{"node", "n2"}, problem.NotFound, "no such node"},
		"nodes only":    {ada, Command, Object{Kind: "node"}, problem.Forbidden, "only a node"},
		"empty subject": {Subject{Kind: KindUser}, Read, Object{Kind: "task"}, problem.Forbidden, "role viewer"},
	} {
		t.Run(name, func(t *testing.T) {
			if p := wants(t, Allow(c.s, c.v, c.o), c.kind); !strings.Contains(p.What, c.says) {
				t.Errorf("says %q, not %q", p.What, c.says)
			}
		})
	}
}

func TestBy(t *testing.T) {
	for want, s := range map[string]Subject{
		"ada":            {Kind: KindUser, Name: "ada"},
		"ada (token ci)": {Kind: KindToken, Name: "ada", Token: "ci"},
		"node n1":        {Kind: KindNode, Name: "n1"},
		"weir up":        System("weir up"),
		"nobody":         {},
	} {
		if got := s.By(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := From(WithSubject(t.Context(), Subject{Kind: KindUser, Name: "ada"})); got.Name != "ada" || !From(t.Context()).Nobody() {
		t.Errorf("the context lost its subject: %+v", got)
	}
}

func TestScopes(t *testing.T) {
	for _, bad := range []string{"", "task", "task:fly", "moon:read", "token:manage", "session:manage", "user:administer", "task:read:more"} {
		if _, err := checkScopes([]string{bad}); err == nil {
			t.Errorf("scope %q was taken", bad)
		}
	}
	got, err := checkScopes([]string{"task:*", "*:read", "task:*"})
	must(t, err)
	if !slices.Equal(got, []string{"*:read", "task:*"}) {
		t.Errorf("got %v", got)
	}
	if _, err := checkScopes(nil); err == nil {
		t.Error("a token without scopes was made")
	}
}
