package auth

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/problem"
)

func TestJoin(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	boss, ada := x.add("boss", Maintainer), x.add("ada", Operator)
	_, err := x.CreateJoin(ctx, ada, NewJoin{Any: true})
	wants(t, err, problem.Forbidden)
	join := func(n NewJoin) string {
		t.Helper()
		secret, err := x.CreateJoin(ctx, boss, n)
		must(t, err)
		return secret
	}
	secret := join(NewJoin{Any: true})
	_, err = x.Join(ctx, secret, "")
	wants(t, err, problem.Invalid)
	credential, err := x.Join(ctx, secret, "n1")
	must(t, err)
	s, err := x.Node(ctx, credential)
	must(t, err)
	if s.Kind != KindNode || s.Name != "n1" || s.ID != "n1" || s.By() != "node n1" || s.UserID != "" {
		t.Errorf("got %+v", s)
	}
	// The credential gives access to its own node only.
	if Can(s, Read, Object{Kind: "task"}) || Can(s, Read, Object{"node", "n2"}) || !Can(s, Command, Object{"node", "n1"}) {
		t.Error("a node reaches further than itself")
	}
	for _, used := range []string{secret, newSecret(joinSecret), credential, ""} {
		_, err = x.Join(ctx, used, "n2")
		wants(t, err, problem.Unauthenticated)
	}
	// A token for any node does not take an existing one over, and the try does not use
	// it up.
	secret = join(NewJoin{Any: true})
	_, err = x.Join(ctx, secret, "n1")
	wants(t, err, problem.Conflict)
	_, err = x.Join(ctx, secret, "n2")
	must(t, err)
	// A token for this node does, and for no other.
	secret = join(NewJoin{Node: "n1", Any: true})
	_, err = x.Join(ctx, secret, "n2")
	wants(t, err, problem.Forbidden)
	again, err := x.Join(ctx, secret, "n1")
	must(t, err)
	_, err = x.Node(ctx, credential)
	wants(t, err, problem.Unauthenticated)
	_, err = x.Node(ctx, again)
	must(t, err)
	if nodes, err := x.NodeCredentials(ctx, Page{}); err != nil || len(nodes) != 2 || nodes[0].Node != "n1" || nodes[0].UsedAt == nil || nodes[1].UsedAt != nil {
		t.Errorf("got %+v, %v", nodes, err)
	}
	wants(t, x.RevokeNode(ctx, ada, "n1"), problem.Forbidden)
	must(t, x.RevokeNode(ctx, boss, "n1"))
	wants(t, x.RevokeNode(ctx, boss, "n1"), problem.NotFound)
	_, err = x.Node(ctx, again)
	wants(t, err, problem.Unauthenticated)
	// Lists, revocation, expiry.
	secret = join(NewJoin{Any: true})
	list, err := x.Joins(ctx, boss)
	must(t, err)
	if len(list) != 1 || list[0].By != "boss" {
		t.Fatalf("got %+v", list)
	}
	_, err = x.Joins(ctx, ada)
	wants(t, err, problem.Forbidden)
	must(t, x.RevokeJoin(ctx, boss, list[0].ID))
	wants(t, x.RevokeJoin(ctx, boss, list[0].ID), problem.NotFound)
	_, err = x.Join(ctx, secret, "n3")
	wants(t, err, problem.Unauthenticated)
	secret = join(NewJoin{Any: true})
	x.pass(joinTTL)
	_, err = x.Join(ctx, secret, "n3")
	wants(t, err, problem.Unauthenticated)
	for _, typ := range []string{"join_created", "joined", "node_revoked", "join_revoked"} {
		if !slices.Contains(x.events(), typ) {
			t.Errorf("the timeline does not tell of %s", typ)
		}
	}
}

// A token bounds what its node may be: the bound is checked, listed, and recorded.
func TestJoinBound(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	for _, bad := range []Bound{{Services: map[string]int{"render": -1}}, {Services: map[string]int{"render": 10_000_000}}, {Services: map[string]int{"": 1}}, {Labels: map[string]string{"": "x"}}} {
		_, err := x.CreateJoin(ctx, System("test"), NewJoin{Bound: bad})
		wants(t, err, problem.Invalid)
	}
	// A token for any work must say so explicitly, which excludes the other bounds.
	_, err := x.CreateJoin(ctx, System("test"), NewJoin{Node: "edge"})
	if p := wants(t, err, problem.Invalid); p.Field != "services" || !strings.Contains(p.Next, "--any") {
		t.Errorf("a token that names nothing: %+v", p)
	}
	_, err = x.CreateJoin(ctx, System("test"), NewJoin{Any: true, Bound: Bound{Services: map[string]int{"render": 1}}})
	wants(t, err, problem.Invalid)
	bound := Bound{Labels: map[string]string{"zone": "eu"}, Services: map[string]int{"render": 2}}
	is := func(b Bound) bool {
		return len(b.Labels) == 1 && b.Labels["zone"] == "eu" && len(b.Services) == 1 && b.Services["render"] == 2
	}
	secret, err := x.CreateJoin(ctx, System("test"), NewJoin{Node: "edge", Bound: bound})
	must(t, err)
	if list, err := x.Joins(ctx, System("test")); err != nil || len(list) != 1 || !is(list[0].Bound) {
		t.Errorf("got %+v, %v", list, err)
	}
	_, err = x.Join(ctx, secret, "edge")
	must(t, err)
	if nodes, err := x.NodeCredentials(ctx, Page{}); err != nil || len(nodes) != 1 || !is(nodes[0].Bound) {
		t.Errorf("got %+v, %v", nodes, err)
	}
	if n := scan[int](x, `select count(*) from weir.events where kind = 'auth' and type in ('join_created', 'joined') and data @> '{"labels": {"zone": "eu"}, "services": {"render": 2}}'`); n != 2 {
		t.Errorf("%d events tell what it may be", n)
	}
	// An empty bound is a bound; a nil one is none.
	for _, c := range []Bound{{Labels: map[string]string{}, Services: map[string]int{}}, {}} {
		secret, err := x.CreateJoin(ctx, System("test"), NewJoin{Node: "edge", Bound: c, Any: c.Labels == nil})
		must(t, err)
		_, err = x.Join(ctx, secret, "edge")
		must(t, err)
		if nodes, err := x.NodeCredentials(ctx, Page{}); err != nil || (nodes[0].Labels == nil) != (c.Labels == nil) || (nodes[0].Services == nil) != (c.Services == nil) || len(nodes[0].Labels) != 0 {
			t.Errorf("got %+v, %v", nodes, err)
		}
	}
}

// Of many machines with one join token, one joins.
func TestJoinOnce(t *testing.T) {
	x := start(t)
	secret, err := x.CreateJoin(t.Context(), System("test"), NewJoin{Any: true})
	must(t, err)
	const many = 8
	var wait sync.WaitGroup
	results := make(chan error, many)
	for i := range many {
		wait.Go(func() {
			_, err := x.Join(t.Context(), secret, "n"+string(rune('a'+i)))
			results <- err
		})
	}
	wait.Wait()
	in := 0
	for range many {
		if err := <-results; err == nil {
			in++
		}
	}
	if in != 1 || scan[int](x, `select count(*) from weir.node_credentials`) != 1 {
		t.Errorf("%d joined", in)
	}
}
