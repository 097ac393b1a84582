package auth

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

func TestSession(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	x.add("ada", Operator)
	secret, subject := x.login("ADA", good)
	got, err := x.Session(ctx, secret)
	must(t, err)
	if got.Name != "ada" || got.Kind != KindUser || got.Role != Operator || got.Session != subject.Session || got.UserID == "" || got.ID != got.UserID {
		t.Errorf("got %+v", got)
	}
	another, _ := x.login("ada", good)
	if another == secret {
		t.Error("two sessions have one secret")
	}
	// A role takes effect with the next request.
	must(t, x.SetRole(ctx, System("test"), "ada", Viewer))
	if got, _ = x.Session(ctx, secret); got.Role != Viewer {
		t.Errorf("the session kept the role %s", got.Role)
	}
	must(t, x.Logout(ctx, secret))
	must(t, x.Logout(ctx, secret))
	must(t, x.Logout(ctx, "garbage"))
	_, err = x.Session(ctx, secret)
	wants(t, err, problem.Unauthenticated)
	if _, err := x.Session(ctx, another); err != nil {
		t.Errorf("the other browser was logged out: %v", err)
	}
	if got, want := x.events(), []string{"user_created", "login", "login", "role_set", "logout"}; !slices.Equal(got, want) {
		t.Errorf("the timeline says %v, not %v", got, want)
	}
}

func TestSessionEnds(t *testing.T) {
	ends := func(name string, end func(x *setup, secret string)) {
		t.Run(name, func(t *testing.T) {
			x := start(t)
			x.add("root", Admin)
			x.add("ada", Viewer)
			secret, _ := x.login("ada", good)
			end(x, secret)
			_, err := x.Session(t.Context(), secret)
			wants(t, err, problem.Unauthenticated)
		})
	}
	ends("idle", func(x *setup, _ string) { x.pass(sessionIdle) })
	ends("old", func(x *setup, secret string) {
		for range 7*24/11 + 1 {
			if _, err := x.Session(x.t.Context(), secret); err != nil {
				x.t.Fatalf("it ended at %v already: %v", x.time(), err)
			}
			x.pass(11 * time.Hour)
		}
	})
	ends("disabled", func(x *setup, _ string) { must(x.t, x.Disable(x.t.Context(), System("test"), "ada")) })
	// A login under way gets its session after those of the user were ended.
	ends("disabled at the same time", func(x *setup, _ string) {
		_, err := x.db.Pool.Exec(x.t.Context(), `update weir.users set disabled_at = now() where name = 'ada'`)
		must(x.t, err)
	})
	ends("deleted", func(x *setup, _ string) { must(x.t, x.DeleteUser(x.t.Context(), System("test"), "ada")) })
	ends("revoked", func(x *setup, _ string) {
		list, err := x.Sessions(x.t.Context(), "")
		must(x.t, err)
		if len(list) != 1 || list[0].User != "ada" || list[0].Address != here.Address || list[0].Agent != here.Agent || list[0].Method != "password" {
			x.t.Fatalf("got %+v", list)
		}
		must(x.t, x.RevokeSession(x.t.Context(), System("test"), list[0].ID))
	})
}

// A page view does not write: the time of last use moves once a minute.
func TestSessionTouch(t *testing.T) {
	x := start(t)
	x.add("ada", Viewer)
	secret, _ := x.login("ada", good)
	row := func() string { return scan[string](x, `select xmin::text || seen_at from weir.sessions`) }
	was := row()
	for range 3 {
		x.pass(touchEvery / 4)
		_, err := x.Session(t.Context(), secret)
		must(t, err)
	}
	if row() != was {
		t.Error("a page view wrote")
	}
	x.pass(touchEvery)
	_, err := x.PeekSession(t.Context(), secret)
	must(t, err)
	if row() != was {
		t.Error("a page left open counts as use")
	}
	_, err = x.Session(t.Context(), secret)
	must(t, err)
	if row() == was {
		t.Error("the use was not noted")
	}
}

func TestRevokeSession(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	root, ada, bob := x.add("root", Admin), x.add("ada", Viewer), x.add("bob", Maintainer)
	secret, logged := x.login("ada", good)
	foreign := wants(t, x.RevokeSession(ctx, bob, logged.Session), problem.NotFound)
	missing := wants(t, x.RevokeSession(ctx, bob, "00000000-0000-0000-0000-000000000000"), problem.NotFound)
	if foreign.What != missing.What {
		t.Errorf("one can tell them apart: %q, %q", foreign.What, missing.What)
	}
	wants(t, x.RevokeSession(ctx, bob, "garbage"), problem.NotFound)
	wants(t, x.RevokeSession(ctx, Subject{}, logged.Session), problem.Unauthenticated)
	_, err := x.Session(ctx, secret)
	must(t, err)
	must(t, x.RevokeSession(ctx, ada, logged.Session))
	_, logged = x.login("ada", good)
	must(t, x.RevokeSession(ctx, root, logged.Session))
	if list, err := x.Sessions(ctx, ada.UserID); err != nil || len(list) != 0 {
		t.Errorf("left: %+v, %v", list, err)
	}
}

// People log in from several places at once, while an admin changes their accounts.
func TestLoginsAtOnce(t *testing.T) {
	x := start(t)
	x.add("root", Admin)
	x.add("ada", Viewer)
	var wait sync.WaitGroup
	for range perAccount.free {
		wait.Go(func() {
			if _, _, err := x.Login(t.Context(), "ada", good, here); err != nil {
				t.Error(err)
			}
		})
	}
	for _, role := range []Role{Operator, Maintainer, Viewer} {
		wait.Go(func() {
			if err := x.SetRole(t.Context(), System("test"), "ada", role); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := scan[int](x, `select count(*) from weir.sessions`); n != perAccount.free {
		t.Errorf("%d sessions", n)
	}
}
