package auth

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/problem"
)

var first = NewUser{Name: "ada", Password: good}

func TestSetup(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	if needs, err := x.NeedsSetup(ctx); err != nil || !needs {
		t.Fatalf("a new database needs a set-up: %v %v", needs, err)
	}
	older, err := x.NewLink(ctx, System("weir up"), "", 0)
	must(t, err)
	link, err := x.NewLink(ctx, System("weir up"), "", 0)
	must(t, err)
	_, err = x.Link(ctx, older)
	wants(t, err, problem.Unauthenticated)
	// Looking at a link does not use it up, and neither does an invalid form.
	for range 3 {
		if info, err := x.Link(ctx, link); err != nil || !info.Setup || info.User != "" {
			t.Fatalf("got %+v, %v", info, err)
		}
	}
	for _, bad := range []NewUser{{}, {Name: "ada", Password: "short"}, {Name: "A B", Password: good}} {
		_, _, err = x.UseLink(ctx, link, bad, here)
		wants(t, err, problem.Invalid)
	}
	secret, subject, err := x.UseLink(ctx, link, NewUser{Name: "ada", Password: good, Role: Viewer}, here)
	must(t, err)
	if subject.Role != Admin || subject.Name != "ada" {
		t.Errorf("the first user is %+v", subject)
	}
	_, err = x.Session(ctx, secret)
	must(t, err)
	if needs, _ := x.NeedsSetup(ctx); needs {
		t.Error("it still needs a set-up")
	}
	_, _, err = x.UseLink(ctx, link, NewUser{Name: "eve", Password: good}, here)
	wants(t, err, problem.Unauthenticated)
	_, err = x.NewLink(ctx, System("weir up"), "", 0)
	wants(t, err, problem.Conflict)
	x.login("ada", good)
	want := []string{"link_created", "link_created", "user_created", "login", "login"}
	if got := x.events(); !slices.Equal(got, want) {
		t.Errorf("the timeline says %v, not %v", got, want)
	}
}

// There is one set-up link, even if a caller does not take the lock.
func TestThereIsOneSetupLink(t *testing.T) {
	x := start(t)
	_, err := x.NewLink(t.Context(), System("weir up"), "", 0)
	must(t, err)
	_, err = x.db.Pool.Exec(t.Context(), `insert into weir.links (hash, created_at, expires_at) select sha256(hash), created_at, expires_at from weir.links`)
	if state, ok := errors.AsType[*pgconn.PgError](err); !ok || state.Code != "23505" {
		t.Errorf("a second one: %v, want a unique violation", err)
	}
}

// The first user may have no password: then no password logs in, and a link is the only
// way.
func TestSetupWithoutPassword(t *testing.T) {
	x := start(t)
	link, err := x.NewLink(t.Context(), System("weir up"), "", 0)
	must(t, err)
	_, _, err = x.UseLink(t.Context(), link, NewUser{Name: "ada"}, here)
	must(t, err)
	_, _, err = x.Login(t.Context(), "ada", "", here)
	wants(t, err, problem.Unauthenticated)
	link, err = x.NewLink(t.Context(), System("weir open"), "ada", 0)
	must(t, err)
	_, subject, err := x.UseLink(t.Context(), link, NewUser{}, here)
	must(t, err)
	if subject.Name != "ada" || subject.Role != Admin {
		t.Errorf("got %+v", subject)
	}
}

// An unused set-up link is invalid once there is a user.
func TestSetupOvertaken(t *testing.T) {
	x := start(t)
	link, err := x.NewLink(t.Context(), System("weir up"), "", 0)
	must(t, err)
	x.add("root", Admin)
	_, err = x.Link(t.Context(), link)
	wants(t, err, problem.Unauthenticated)
	_, _, err = x.UseLink(t.Context(), link, first, here)
	wants(t, err, problem.Unauthenticated)
}

// Of many browsers that use one link at once, exactly one is logged in.
func TestLinkOnce(t *testing.T) {
	for _, setUp := range []bool{true, false} {
		x := start(t)
		name := ""
		if !setUp {
			name = x.add("ada", Viewer).Name
		}
		link, err := x.NewLink(t.Context(), System("test"), name, 0)
		must(t, err)
		const many = 8
		var wait sync.WaitGroup
		results := make(chan error, many)
		for range many {
			wait.Go(func() {
				_, _, err := x.UseLink(t.Context(), link, first, here)
				results <- err
			})
		}
		wait.Wait()
		in := 0
		for range many {
			if err := <-results; err == nil {
				in++
			} else if kind := problem.Explain(err).Kind; kind != problem.Unauthenticated && kind != problem.Conflict {
				t.Errorf("got %v", err)
			}
		}
		if in != 1 || scan[int](x, `select count(*) from weir.sessions`) != 1 || scan[int](x, `select count(*) from weir.users`) != 1 {
			t.Errorf("set-up %v: %d got in", setUp, in)
		}
	}
}

func TestLoginLink(t *testing.T) {
	x := start(t)
	ctx := t.Context()
	root, ada := x.add("root", Admin), x.add("ada", Viewer)
	_, err := x.NewLink(ctx, ada, "root", 0)
	wants(t, err, problem.Forbidden)
	_, err = x.NewLink(ctx, root, "nobody", 0)
	wants(t, err, problem.NotFound)
	_, err = x.NewLink(ctx, root, "ada", 365*24*time.Hour)
	wants(t, err, problem.Invalid)
	make := func() string {
		link, err := x.NewLink(ctx, root, "ada", 0)
		must(t, err)
		return link
	}
	link := make()
	if info, err := x.Link(ctx, link); err != nil || info.Setup || info.User != "ada" {
		t.Errorf("got %+v, %v", info, err)
	}
	_, subject, err := x.UseLink(ctx, link, NewUser{}, here)
	must(t, err)
	if subject.Name != "ada" || subject.Role != Viewer {
		t.Errorf("got %+v", subject)
	}
	refused := func(why, link string) {
		t.Helper()
		_, err := x.Link(ctx, link)
		wants(t, err, problem.Unauthenticated)
		_, _, err = x.UseLink(ctx, link, NewUser{}, here)
		if wants(t, err, problem.Unauthenticated); err == nil {
			t.Error(why)
		}
	}
	refused("used", link)
	refused("of another kind", newSecret(sessionSecret))
	refused("never made", newSecret(linkSecret))
	link = make()
	must(t, x.Disable(ctx, root, "ada"))
	refused("disabled", link)
	_, err = x.NewLink(ctx, root, "ada", 0)
	wants(t, err, problem.Conflict)
	must(t, x.Enable(ctx, root, "ada"))
	x.pass(linkTTL)
	refused("expired", link)
	link = make()
	must(t, x.DeleteUser(ctx, root, "ada"))
	refused("deleted", link)
}
