package redishint

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/timeline"
)

// lead runs the relay until the test ends.
func lead(t *testing.T, b *Bus, db *testdb.DB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	var r loop.Runner
	run.Go(func() { r.Run(ctx, b.Relay(db.Pool, nil)) })
	t.Cleanup(func() { cancel(); run.Wait() })
}

// follow follows the timeline by the hints of a bus.
func follow(t *testing.T, b *Bus, db *testdb.DB) *timeline.Follower {
	t.Helper()
	hub := timeline.NewHub(db.Pool, b.C(), timeline.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { hub.Run(ctx) })
	t.Cleanup(func() { cancel(); run.Wait() })
	f, err := hub.Follow(t.Context(), "", timeline.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func submit(t *testing.T, db *testdb.DB, n int) {
	t.Helper()
	if _, err := db.Pool.Exec(t.Context(), `select weir.submit('s', hint => false) from generate_series(1, $1)`, n); err != nil {
		t.Fatal(err)
	}
}

// arrive submits tasks and waits for exactly their events.
func arrive(t *testing.T, f *timeline.Follower, db *testdb.DB, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	submit(t, db, n)
	for got := 0; got < n; {
		events, err := f.Next(ctx)
		if err != nil {
			t.Fatalf("%d of %d events: %v", got, n, err)
		}
		got += len(events)
	}
}

func TestTheLeadersHintReachesEveryServer(t *testing.T) {
	redis, db, log := redistest.New(t), testdb.New(t), new(journal)
	redis.Start()
	leader, other := runBus(t, redis.URL(), log), runBus(t, redis.URL(), log)
	lead(t, leader, db)
	for _, b := range []*Bus{leader, other} {
		hinted(t, b, "listening begins")
	}
	for range 3 {
		submit(t, db, 1)
		for _, b := range []*Bus{leader, other} {
			hinted(t, b, "the timeline grew")
		}
	}
	arrive(t, follow(t, other, db), db, 10)
	client := redis.Client()
	defer client.Close()
	if n := client.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("Redis holds %d keys", n)
	}
	if log.count("level=WARN") != 0 {
		t.Errorf("log: %s", log)
	}
}

func TestRedisThatRestartsOrIsEmptiedLosesNothing(t *testing.T) {
	redis, db, log := redistest.New(t), testdb.New(t), new(journal)
	redis.Start()
	b := runBus(t, redis.URL(), log)
	hinted(t, b, "listening begins")
	lead(t, b, db)
	f := follow(t, b, db)
	arrive(t, f, db, 5)

	client := redis.Client()
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	client.Close()
	arrive(t, f, db, 5)

	redis.Kill()
	testwait.Until(t, "the loss of hints is said", func() bool { return log.count("no hints through Redis") > 0 })
	arrive(t, f, db, 5)
	testwait.Until(t, "the loss of publishing is said", func() bool { return log.count("no publishing through Redis") > 0 })
	arrive(t, f, db, 5)

	redis.Start()
	testwait.Until(t, "it heals", func() bool {
		submit(t, db, 1)
		return log.count("hints through Redis again") == 1 && log.count("publishing through Redis again") == 1
	})
	if log.count("level=WARN") != 2 {
		t.Errorf("log: %s", log)
	}
	fresh := runBus(t, redis.URL(), log)
	hinted(t, fresh, "listening begins")
	submit(t, db, 1)
	hinted(t, fresh, "the timeline grew")
}

func TestWithoutRedisEventsArriveAtPollSpeed(t *testing.T) {
	for name, prepare := range map[string]func(*redistest.Server) string{
		"never there":    (*redistest.Server).URL,
		"wrong password": func(s *redistest.Server) string { s.Start(); return s.URLWith("wrong") },
	} {
		t.Run(name, func(t *testing.T) {
			redis, db, log := redistest.New(t), testdb.New(t), new(journal)
			b := runBus(t, prepare(redis), log)
			lead(t, b, db)
			f := follow(t, b, db)
			testwait.Until(t, "it is said", func() bool { return log.count("no hints through Redis") == 1 })
			arrive(t, f, db, 5)
			testwait.Until(t, "it is said", func() bool { return log.count("no publishing through Redis") == 1 })
			arrive(t, f, db, 5)
			if log.count("level=WARN") != 2 || strings.Contains(log.String(), "correct") {
				t.Errorf("log: %s", log)
			}
			if name == "never there" {
				redis.Start()
				testwait.Until(t, "it heals", func() bool { return log.count("hints through Redis again") == 1 })
			}
		})
	}
}

func TestHintsAreFew(t *testing.T) {
	redis, db, log := redistest.New(t), testdb.New(t), new(journal)
	redis.Start()
	client := redis.Client()
	defer client.Close()
	sub := client.Subscribe(t.Context(), DefaultPrefix+"events")
	defer sub.Close()
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := runBus(t, redis.URL(), log)
	hinted(t, b, "listening begins")
	wake := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	var r loop.Runner
	start := time.Now()
	run.Go(func() { r.Run(ctx, b.Relay(db.Pool, wake)) })
	for range 200 {
		submit(t, db, 1)
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	// This compares with the end itself, and not with what can be read yet: a transaction
	// of another database of the server may hold that back, and then no hint names it.
	var newest string
	if err := db.Pool.QueryRow(t.Context(), `select e.xid || '.' || e.seq from weir.events e order by e.xid desc, e.seq desc limit 1`).Scan(&newest); err != nil {
		t.Fatal(err)
	}
	n, last := 0, ""
	for messages := sub.Channel(); last != newest; n++ {
		select {
		case m := <-messages:
			last = m.Payload
		case <-time.After(testwait.Limit):
			t.Fatalf("the last hint is %s, the timeline ends at %s", last, newest)
		}
	}
	if most := int(time.Since(start)/gap) + 2; n > most {
		t.Errorf("%d hints, at most %d", n, most)
	}
	cancel()
	run.Wait()
}

func TestABadURLIsRefusedWithoutItsPassword(t *testing.T) {
	for _, bad := range []string{"", "localhost:6379", "http://:secret@h", "redis://:secret@h:port/x", "redis://:secret@h/notanumber", "redis://:sec ret%zz@h"} {
		var p *problem.Problem
		_, err := New(bad, "", nil)
		if !errors.As(err, &p) || p.Kind != problem.Invalid || p.Next == "" || strings.Contains(p.What, "sec") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
