package auth

import (
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

func TestToken(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	ada := x.add("ada", Operator)
	made, secret, err := x.CreateToken(ctx, ada, NewToken{Name: "ci", Scopes: []string{"task:*", "job:read"}})
	must(t, err)
	if made.User != "ada" || made.UserID != ada.UserID || made.Name != "ci" || !made.ExpiresAt.Equal(x.time().Add(90*24*time.Hour)) {
		t.Errorf("got %+v", made)
	}
	s, err := x.Token(ctx, secret)
	must(t, err)
	if s.Kind != KindToken || s.ID != made.ID || s.By() != "ada (token ci)" || s.UserID != ada.UserID || s.Role != Operator {
		t.Errorf("got %+v", s)
	}
	if !Can(s, Submit, Object{Kind: "task"}) || Can(s, Submit, Object{Kind: "job"}) || Can(s, Override, Object{Kind: "task"}) {
		t.Error("its rights are not those of its user within its scopes")
	}
	// A token cannot create another one, nor end another; it may end itself.
	_, _, err = x.CreateToken(ctx, s, NewToken{Name: "two", Scopes: []string{"*:*"}})
	wants(t, err, problem.Forbidden)
	other, spare, err := x.CreateToken(ctx, ada, NewToken{Name: "spare", Scopes: []string{"*:*"}})
	must(t, err)
	wants(t, x.RevokeToken(ctx, s, other.ID), problem.Forbidden)
	self, err := x.Token(ctx, spare)
	must(t, err)
	must(t, x.RevokeToken(ctx, self, other.ID))
	_, err = x.Token(ctx, spare)
	wants(t, err, problem.Unauthenticated)
	_, _, err = x.CreateToken(ctx, ada, NewToken{Name: "ci", Scopes: []string{"*:*"}})
	wants(t, err, problem.Conflict)
	for _, bad := range []NewToken{
		{Scopes: []string{"*:*"}},
		{Name: "x"},
		{Name: "x", Scopes: []string{"task:fly"}},
		{Name: "x", Scopes: []string{"*:*"}, TTL: 2 * mostTokenTTL},
		{Name: "x", Scopes: []string{"*:*"}, TTL: -time.Hour},
		{Name: "a\nb", Scopes: []string{"*:*"}},
		{Name: "x", Scopes: []string{"*:*"}, User: "root"},
	} {
		_, _, err := x.CreateToken(ctx, ada, bad)
		wants(t, err, problem.Invalid)
	}
	// Rights shrink with the role, and end with the user.
	must(t, x.SetRole(ctx, System("test"), "ada", Viewer))
	if s, err = x.Token(ctx, secret); err != nil || Can(s, Submit, Object{Kind: "task"}) {
		t.Errorf("the token outlived the role: %v", err)
	}
	must(t, x.Disable(ctx, System("test"), "ada"))
	_, err = x.Token(ctx, secret)
	wants(t, err, problem.Unauthenticated)
	must(t, x.Enable(ctx, System("test"), "ada"))
	_, err = x.Token(ctx, secret)
	must(t, err)
	x.pass(90 * 24 * time.Hour)
	_, err = x.Token(ctx, secret)
	wants(t, err, problem.Unauthenticated)
}

func TestTokensOfOthers(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	root, ada, bob := x.add("root", Admin), x.add("ada", Viewer), x.add("bob", Maintainer)
	made, secret, err := x.CreateToken(ctx, ada, NewToken{Name: "ci", Scopes: []string{"*:read"}})
	must(t, err)
	_, _, err = x.CreateToken(ctx, bob, NewToken{Name: "ci", Scopes: []string{"*:read"}})
	must(t, err)
	if mine, err := x.Tokens(ctx, ada, false); err != nil || len(mine) != 1 || mine[0].ID != made.ID || !slices.Equal(mine[0].Scopes, []string{"*:read"}) {
		t.Errorf("got %+v, %v", mine, err)
	}
	_, err = x.Tokens(ctx, bob, true)
	wants(t, err, problem.Forbidden)
	if all, err := x.Tokens(ctx, root, true); err != nil || len(all) != 2 {
		t.Errorf("got %+v, %v", all, err)
	}
	foreign, missing := wants(t, x.RevokeToken(ctx, bob, made.ID), problem.NotFound), wants(t, x.RevokeToken(ctx, bob, "no id"), problem.NotFound)
	if foreign.What != missing.What {
		t.Errorf("one can tell them apart: %q, %q", foreign.What, missing.What)
	}
	_, err = x.Token(ctx, secret)
	must(t, err)
	must(t, x.RevokeToken(ctx, root, made.ID))
	_, err = x.Token(ctx, secret)
	wants(t, err, problem.Unauthenticated)
	// A command on the database must name the user.
	_, _, err = x.CreateToken(ctx, System("weir token create"), NewToken{Name: "db", Scopes: []string{"*:*"}, User: "ada"})
	must(t, err)
	_, _, err = x.CreateToken(ctx, System("weir token create"), NewToken{Name: "db", Scopes: []string{"*:*"}})
	wants(t, err, problem.NotFound)
}

// The use of a token is written once a minute.
func TestTokenTouch(t *testing.T) {
	x := start(t)
	_, secret, err := x.CreateToken(t.Context(), x.add("ada", Viewer), NewToken{Name: "ci", Scopes: []string{"*:read"}})
	must(t, err)
	use := func() string {
		_, err := x.Token(t.Context(), secret)
		must(t, err)
		return scan[string](x, `select coalesce(used_at::text, '') || xmin::text from weir.tokens`)
	}
	was := use()
	x.pass(touchEvery / 2)
	if use() != was {
		t.Error("a use wrote within the minute")
	}
	x.pass(touchEvery)
	if use() == was {
		t.Error("a use was not noted")
	}
}

// A mistyped token is refused without the database, and so is a secret of another kind.
func TestTokenChecksum(t *testing.T) {
	x := start(t)
	_, secret, err := x.CreateToken(t.Context(), x.add("ada", Viewer), NewToken{Name: "ci", Scopes: []string{"*:read"}})
	must(t, err)
	x.db.Pool.Close()
	_, err = x.Token(t.Context(), secret[:20]+"!"+secret[21:])
	wants(t, err, problem.Unauthenticated)
	_, err = x.Token(t.Context(), newSecret(sessionSecret))
	wants(t, err, problem.Unauthenticated)
	if _, err = x.Token(t.Context(), secret); err == nil || problem.Explain(err).Kind == problem.Unauthenticated {
		t.Errorf("without a database: %v", err)
	}
	x.db.SkipDoctor("the pool is closed")
}
