package auth

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

func TestUsers(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	root := x.add("root", Admin)
	u, err := x.CreateUser(ctx, root, NewUser{Name: " Ada ", Role: Operator, Password: good, Email: "ada@example.com"})
	must(t, err)
	if u.Name != "ada" || u.Role != Operator || !u.Password || u.Email != "ada@example.com" || u.Disabled() {
		t.Errorf("got %+v", u)
	}
	_, err = x.CreateUser(ctx, root, NewUser{Name: "ada", Role: Viewer})
	wants(t, err, problem.Conflict)
	for _, bad := range []NewUser{
		{Name: "", Role: Viewer}, {Name: "-ada", Role: Viewer}, {Name: "a b", Role: Viewer}, {Name: strings.Repeat("a", 65), Role: Viewer}, {Name: "аda", Role: Viewer}, // a Cyrillic а
		{Name: "bob", Role: "king"}, {Name: "bob"}, {Name: "bob", Role: Viewer, Password: "short"}, {Name: "bob", Role: Viewer, Email: "Bob <b@example.com>"},
	} {
		_, err := x.CreateUser(ctx, root, bad)
		wants(t, err, problem.Invalid)
	}
	all, err := x.Users(ctx, Page{})
	must(t, err)
	if len(all) != 2 || all[0].Name != "ada" || all[1].Name != "root" {
		t.Errorf("got %+v", all)
	}
	if page, err := x.Users(ctx, Page{Limit: 1, After: "ada"}); err != nil || len(page) != 1 || page[0].Name != "root" {
		t.Errorf("got %+v, %v", page, err)
	}
	_, err = x.User(ctx, "nobody")
	wants(t, err, problem.NotFound)
	// Only an admin changes users.
	ada := Subject{Kind: KindUser, ID: u.ID, UserID: u.ID, Name: "ada", Role: Operator}
	wants(t, x.SetRole(ctx, ada, "ada", Admin), problem.Forbidden)
	wants(t, x.DeleteUser(ctx, ada, "root"), problem.Forbidden)
	wants(t, x.Disable(ctx, Subject{}, "root"), problem.Unauthenticated)
	_, err = x.CreateUser(ctx, ada, NewUser{Name: "eve", Role: Admin, Password: good})
	wants(t, err, problem.Forbidden)
	must(t, x.SetRole(ctx, root, "ada", Maintainer))
	must(t, x.SetRole(ctx, root, "ada", Maintainer)) // no second event
	must(t, x.Disable(ctx, root, "ada"))
	must(t, x.Enable(ctx, root, "ada"))
	must(t, x.DeleteUser(ctx, root, "ada"))
	wants(t, x.DeleteUser(ctx, root, "ada"), problem.NotFound)
	want := []string{"user_created", "user_created", "role_set", "user_disabled", "user_enabled", "user_deleted"}
	if got := x.events(); !slices.Equal(got, want) {
		t.Errorf("the timeline says %v, not %v", got, want)
	}
	if by := scan[string](x, `select source from weir.events where type = 'role_set'`); by != "root" {
		t.Errorf("the timeline says %q did it", by)
	}
}

// At least one admin always remains, also when two remove each other at once.
func TestLastAdmin(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	ada := x.add("ada", Admin)
	for _, err := range []error{x.SetRole(ctx, ada, "ada", Viewer), x.Disable(ctx, ada, "ada"), x.DeleteUser(ctx, ada, "ada"), x.DeleteUser(ctx, System("cli"), "ada")} {
		if wants(t, err, problem.Conflict); !errors.Is(err, ErrLastAdmin) {
			t.Errorf("got %v", err)
		}
	}
	bob := x.add("bob", Admin)
	must(t, x.Disable(ctx, ada, "bob"))
	wants(t, x.DeleteUser(ctx, bob, "ada"), problem.Conflict) // a disabled admin does not count
	must(t, x.Enable(ctx, ada, "bob"))
	for range 5 {
		var wait sync.WaitGroup
		errs := make([]error, 2)
		wait.Go(func() { errs[0] = x.SetRole(ctx, ada, "bob", Viewer) })
		wait.Go(func() { errs[1] = x.Disable(ctx, bob, "ada") })
		wait.Wait()
		if n := scan[int](x, `select count(*) from weir.users where role = 'admin' and disabled_at is null`); n != 1 {
			t.Fatalf("%d admins are left: %v", n, errs)
		}
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("not exactly one went through: %v", errs)
		}
		_, err := x.db.Pool.Exec(ctx, `update weir.users set role = 'admin', disabled_at = null`)
		must(t, err)
	}
}

// Changes of users run one after another: no transaction looks for another admin while a
// second one is about to remove that admin.
func TestUsersOneByOne(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	ada, bob := x.add("ada", Admin), x.add("bob", Admin)
	inside, leave := make(chan string, 2), make(chan struct{})
	var wait sync.WaitGroup
	change := func(by Subject, name string) {
		wait.Go(func() {
			if err := x.change(ctx, by, "test", name, func(pgx.Tx, User) (event, error) {
				inside <- name
				<-leave
				return event{}, nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	change(ada, "bob")
	<-inside
	change(bob, "ada")
	waits := func() bool {
		return scan[bool](x, `select exists (select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database()))`)
	}
	for deadline := time.Now().Add(time.Minute); !waits(); {
		if len(inside) > 0 || time.Now().After(deadline) {
			t.Error("two changes at once")
			break
		}
		loop.Wait(ctx, 5*time.Millisecond, nil)
	}
	close(leave)
	wait.Wait()
}

func TestSetPassword(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	root := x.add("root", Admin)
	x.add("ada", Viewer)
	first, _ := x.login("ada", good)
	second, ada := x.login("ada", good)
	wants(t, x.SetPassword(ctx, ada, "ada", "wrong", other), problem.Invalid)
	wants(t, x.SetPassword(ctx, ada, "ada", good, "short"), problem.Invalid)
	// For a viewer, the account of another user does not exist, like an account that
	// really does not.
	foreign, missing := wants(t, x.SetPassword(ctx, ada, "root", good, other), problem.NotFound), wants(t, x.SetPassword(ctx, ada, "nobody", good, other), problem.NotFound)
	if foreign.What != missing.What {
		t.Errorf("one can tell them apart: %q, %q", foreign.What, missing.What)
	}
	must(t, x.SetPassword(ctx, ada, "ada", good, other))
	if _, err := x.Session(ctx, second); err != nil {
		t.Errorf("the session that changed the password ended: %v", err)
	}
	_, err := x.Session(ctx, first)
	wants(t, err, problem.Unauthenticated)
	_, _, err = x.Login(ctx, "ada", good, here)
	wants(t, err, problem.Unauthenticated)
	x.login("ada", other)
	must(t, x.SetPassword(ctx, root, "ada", "", good)) // an admin does not give the old one
	_, err = x.Session(ctx, second)
	wants(t, err, problem.Unauthenticated)
	x.login("ada", good)
	token := Subject{Kind: KindToken, UserID: root.UserID, Name: "root", Token: "ci", Role: Admin, Scopes: []string{"*:*"}}
	wants(t, x.SetPassword(ctx, token, "root", good, other), problem.Forbidden)
}

// Guessing the old password in an open session is throttled like a login.
func TestSetPasswordThrottled(t *testing.T) {
	x := start(t)
	ada := x.add("ada", Viewer)
	for range perAccount.free + 1 {
		wants(t, x.SetPassword(t.Context(), ada, "ada", "a guess", other), problem.Invalid)
	}
	wants(t, x.SetPassword(t.Context(), ada, "ada", good, other), problem.Throttled)
}
