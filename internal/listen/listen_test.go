package listen_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// listening runs a listener until the test ends.
func listening(t *testing.T, url string) *listen.Listener {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	l := listen.New(config, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
		if l.Healthy() {
			t.Error("healthy after its end")
		}
	})
	return l
}

// next waits for a hint.
func next(t *testing.T, s *listen.Subscription) listen.Hint {
	t.Helper()
	select {
	case <-s.C():
		return s.Take()
	case <-time.After(30 * time.Second):
		t.Fatal("no hint")
		return listen.Hint{}
	}
}

// heard collects notes until there are n.
func heard(t *testing.T, s *listen.Subscription, n int) []listen.Note {
	t.Helper()
	var notes []listen.Note
	for len(notes) < n {
		notes = append(notes, next(t, s).Notes...)
	}
	return notes
}

func notify(t *testing.T, db *testdb.DB, channel, payload string) {
	t.Helper()
	if _, err := db.Pool.Exec(context.Background(), `select pg_notify($1, $2)`, channel, payload); err != nil {
		t.Fatal(err)
	}
}

func TestListenerDelivers(t *testing.T) {
	db := testdb.NewEmpty(t)
	l := listening(t, db.URL)
	both, one := l.Listen("tasks", "Odd \"name\""), l.Listen("tasks")
	for _, s := range []*listen.Subscription{both, one} {
		if !next(t, s).All {
			t.Error("the first hint must be to look at everything")
		}
	}
	// The two may have been heard in two steps; let the second pass as well.
	notify(t, db, "Odd \"name\"", "")
	for done := false; !done; {
		done = slices.Contains(next(t, both).Notes, listen.Note{Channel: "Odd \"name\""})
	}
	if !l.Healthy() {
		t.Error("not healthy")
	}
	notify(t, db, "tasks", "a")
	if got := heard(t, both, 1); got[0] != (listen.Note{Channel: "tasks", Payload: "a"}) {
		t.Errorf("got %v", got)
	}
	if got := heard(t, one, 1); got[0] != (listen.Note{Channel: "tasks", Payload: "a"}) {
		t.Errorf("got %v", got)
	}

	one.Close()
	notify(t, db, "tasks", "b")
	heard(t, both, 1)
	if hint := one.Take(); hint.All || len(hint.Notes) > 0 {
		t.Errorf("a closed subscription got %+v", hint)
	}
}

func TestListenerMergesHintsForASlowReader(t *testing.T) {
	db := testdb.NewEmpty(t)
	l := listening(t, db.URL)
	slow, fast := l.Listen("tasks"), l.Listen("tasks")
	next(t, slow)
	next(t, fast)
	for range 3 {
		notify(t, db, "tasks", "same")
		heard(t, fast, 1)
	}
	if got := slow.Take(); len(got.Notes) != 1 || got.All {
		t.Errorf("three equal notes became %+v", got)
	}
	for i := range 300 {
		notify(t, db, "tasks", strconv.Itoa(i))
	}
	notify(t, db, "tasks", "last")
	for !slices.Contains(heard(t, fast, 1), listen.Note{Channel: "tasks", Payload: "last"}) {
	}
	if got := slow.Take(); !got.All || len(got.Notes) > 0 {
		t.Errorf("more notes than are worth keeping became All = %v and %d notes", got.All, len(got.Notes))
	}
}

func TestListenerComesBack(t *testing.T) {
	db := testdb.NewEmpty(t)
	l := listening(t, db.URL)
	s := l.Listen("tasks")
	next(t, s)
	for range 3 {
		var killed int
		err := db.Pool.QueryRow(context.Background(), `select count(pg_terminate_backend(pid))::int from pg_stat_activity
			where application_name = 'weir listen' and datname = current_database()`).Scan(&killed)
		if err != nil || killed != 1 {
			t.Fatalf("%d listening connections, want one per process (%v)", killed, err)
		}
		// One hint when it breaks off and one when it is back, or both in one.
		for back := false; !back; back = l.Healthy() {
			if hint := next(t, s); !hint.All {
				t.Errorf("around a reconnect: %+v", hint)
			}
		}
		notify(t, db, "tasks", "again")
		heard(t, s, 1)
	}
}

func TestListenerWithoutADatabase(t *testing.T) {
	l := listening(t, "postgres://127.0.0.1:1/none?sslmode=disable&connect_timeout=1")
	s := l.Listen("tasks")
	if l.Healthy() || s.Take().All {
		t.Error("healthy without a database")
	}
}
