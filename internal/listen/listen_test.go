package listen_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// start runs a listener until the test ends.
func start(t *testing.T, url string) *listen.Listener {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	l := listen.New(config, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return l
}

// take waits for hints until ok accepts one.
func take(t *testing.T, s *listen.Subscription, what string, ok func(listen.Hint) bool) {
	t.Helper()
	deadline := time.After(testwait.Limit)
	for {
		select {
		case <-s.C():
			if ok(s.Take()) {
				return
			}
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}

func all(h listen.Hint) bool { return h.All }

func notify(t *testing.T, db *testdb.DB, channel, payload string) {
	t.Helper()
	if _, err := db.Pool.Exec(t.Context(), `select pg_notify($1, $2)`, channel, payload); err != nil {
		t.Fatal(err)
	}
}

func TestListen(t *testing.T) {
	db := testdb.NewEmpty(t)
	l := start(t, db.URL)
	one := l.Listen("a", "b")
	take(t, one, "listening begins", all)
	if !l.Healthy() {
		t.Error("it listens and is not healthy")
	}
	two := l.Listen("c") // later than the connection
	take(t, two, "listening to c begins", all)
	one.Take()
	notify(t, db, "b", "x")
	notify(t, db, "b", "x")
	notify(t, db, "c", "y")
	take(t, one, "a note on b", func(h listen.Hint) bool {
		return !h.All && len(h.Notes) == 1 && h.Notes[0] == listen.Note{Channel: "b", Payload: "x"}
	})
	take(t, two, "a note on c", func(h listen.Hint) bool { return len(h.Notes) == 1 && h.Notes[0].Payload == "y" })
	one.Close()
	notify(t, db, "b", "z")
	notify(t, db, "c", "z")
	take(t, two, "another note on c", func(h listen.Hint) bool { return len(h.Notes) == 1 })
	if h := one.Take(); len(h.Notes) > 0 {
		for _, n := range h.Notes {
			if n.Payload == "z" {
				t.Error("a closed subscription hears")
			}
		}
	}
}

// When the connection breaks, subscribers get a hint, and another one when it is back,
// because notifications in between are lost.
func TestBreak(t *testing.T) {
	db := testdb.NewEmpty(t)
	l := start(t, db.URL)
	s := l.Listen("a")
	take(t, s, "listening begins", all)
	if _, err := db.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'weir listen' and datname = current_database()`); err != nil {
		t.Fatal(err)
	}
	take(t, s, "it broke", func(h listen.Hint) bool { return h.All })
	take(t, s, "it is back", func(h listen.Hint) bool { return h.All && l.Healthy() })
	notify(t, db, "a", "x")
	take(t, s, "a note", func(h listen.Hint) bool { return len(h.Notes) == 1 })
}

// A flood becomes one hint: look at everything.
func TestFlood(t *testing.T) {
	db := testdb.NewEmpty(t)
	l := start(t, db.URL)
	s := l.Listen("a")
	take(t, s, "listening begins", all)
	if _, err := db.Pool.Exec(t.Context(), `select pg_notify('a', n::text) from generate_series(1, 1000) n`); err != nil {
		t.Fatal(err)
	}
	notes := 0
	take(t, s, "the flood", func(h listen.Hint) bool {
		notes += len(h.Notes)
		return h.All || notes >= 1000
	})
}
