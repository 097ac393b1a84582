package activity

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/redistest"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace"
)

// row creates a running workspace that was last used an hour ago.
func row(t *testing.T, db *testdb.DB, name string) (id weir.ID) {
	t.Helper()
	if err := db.Pool.QueryRow(t.Context(), `
		with u as (insert into weir.users (id, name, role, created_at) values (gen_random_uuid(), $1, 'operator', now()) on conflict (name) do update set role = 'operator' returning id)
		insert into weir.workspaces (id, owner, name, provider, created_at, desired, desired_at, last_access_at, phase, phase_changed_at, had_home)
		select gen_random_uuid(), u.id, $1, 'boxes', now() - interval '1 hour', 'RUNNING', now(), now() - interval '1 hour', 'RUNNING', now() - interval '1 hour', true from u returning id`, name).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// last returns how long ago a workspace was used, according to the database, and by what.
func last(t *testing.T, db *testdb.DB, id weir.ID) (ago time.Duration, source string) {
	t.Helper()
	if err := db.Pool.QueryRow(t.Context(), `select now() - last_access_at, coalesce(last_activity, '') from weir.workspaces where id = $1`, id).Scan(&ago, &source); err != nil {
		t.Fatal(err)
	}
	return ago, source
}

func meter(t *testing.T, db *testdb.DB, config Config) *Meter {
	t.Helper()
	config.Store = workspace.New(db.Pool)
	m, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Uses go straight to the database: once per time, never back, and by the database's
// clock, even if this server's is an hour wrong.
func TestStraight(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"right": 0, "ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			db := testdb.New(t)
			id := row(t, db, "first")
			now := time.Now().Add(wrong)
			m := meter(t, db, Config{Now: func() time.Time { return now }})
			m.Use(id, HTTP)
			now = now.Add(999 * time.Millisecond)
			m.Use(id, WebSocket) // within a second: not recorded
			now = now.Add(10*time.Minute - 999*time.Millisecond)
			ok(t, m.Store(t.Context()))
			if ago, source := last(t, db, id); ago < 10*time.Minute || ago > 15*time.Minute || source != HTTP {
				t.Errorf("used %s ago by %s", ago, source)
			}
			m.Use(id, Terminal)
			ok(t, m.Store(t.Context()))
			if ago, source := last(t, db, id); ago < 0 || ago > 5*time.Minute || source != Terminal {
				t.Errorf("used %s ago by %s", ago, source)
			}
			// A server that reports an older time later changes nothing.
			late := meter(t, db, Config{Now: func() time.Time { return now }})
			late.Use(id, HTTP)
			now = now.Add(30 * time.Minute)
			ok(t, late.Store(t.Context()))
			if _, source := last(t, db, id); source != Terminal {
				t.Errorf("it went back: %s", source)
			}
			if uses, _ := m.pending(func(k *known) time.Time { return k.stored }); len(uses) != 0 {
				t.Errorf("told twice: %+v", uses)
			}
			ok(t, m.Store(t.Context()))
			if len(m.known) != 0 && now.Sub(m.known[id].last) > keep {
				m.note(nil, nil)
				if len(m.known) != 0 {
					t.Error("it remembers for ever")
				}
			}
		})
	}
}

// Before a workspace is stopped, all servers write the uses they know.
func TestAsk(t *testing.T) {
	db := testdb.New(t)
	id, other := row(t, db, "first"), row(t, db, "second")
	leader, far := meter(t, db, Config{}), meter(t, db, Config{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	// The far server receives the request.
	wake := make(chan struct{}, 1)
	heard := make(chan struct{})
	conn, err := db.Pool.Acquire(ctx)
	ok(t, err)
	_, err = conn.Exec(ctx, "listen "+workspace.UseChannel)
	ok(t, err)
	var group sync.WaitGroup
	group.Go(func() {
		defer conn.Release()
		for {
			if _, err := conn.Conn().WaitForNotification(ctx); err != nil {
				return
			}
			wake <- struct{}{}
		}
	})
	runner := loop.Runner{}
	group.Go(func() {
		close(heard)
		loops := far.Loops(wake)
		loops[0].Every = time.Hour // only the request makes it write
		runner.Run(ctx, loops...)
	})
	<-heard
	testwait.Until(t, "the first tick", func() bool { return len(runner.Stats()) > 0 && runner.Stats()[0].Ticks > 0 })
	far.Use(id, Terminal)
	leader.Use(other, HTTP)
	// The leader's own use is there when Ask returns; the far server's a moment later at
	// most.
	ok(t, leader.Ask(ctx, time.Now()))
	if ago, source := last(t, db, other); ago > time.Minute*30 || source != HTTP {
		t.Errorf("the leader's own: %s ago by %s", ago, source)
	}
	testwait.Until(t, "what the far server knows", func() bool {
		ago, source := last(t, db, id)
		return ago < 30*time.Minute && source == Terminal
	})
	// If no workspace is due, no server is asked.
	ticks := runner.Stats()[0].Ticks
	ok(t, leader.Ask(ctx, time.Now()))
	if runner.Stats()[0].Ticks != ticks {
		t.Error("servers were asked for nothing")
	}
	stop()
	group.Wait()
}

// journal is a log that a test can read.
type journal struct{ testwait.Text }

func (j *journal) count(part string) int { return strings.Count(j.String(), part) }

// Uses go through Redis: Redis keeps those of a server that is gone, times only grow, and
// a use that arrives while they are read stays.
func TestRedis(t *testing.T) {
	db := testdb.New(t)
	id, other := row(t, db, "first"), row(t, db, "second")
	redis := redistest.New(t)
	redis.Start()
	client := redis.Client()
	defer client.Close()
	now := time.Now().Add(-3 * time.Hour) // its own clock is wrong
	gone := meter(t, db, Config{RedisURL: redis.URL(), Now: func() time.Time { return now }})
	gone.Use(id, Terminal)
	now = now.Add(2 * time.Minute)
	gone.Shelve(t.Context())
	if ago, _ := last(t, db, id); ago < 59*time.Minute {
		t.Errorf("it went past Redis: %s", ago)
	}
	if n := client.ZCard(t.Context(), defaultPrefix+"used").Val(); n != 1 {
		t.Errorf("%d are in Redis", n)
	}
	// An older time does not replace a newer one.
	ok(t, gone.shelf.put(t.Context(), []workspace.Use{{ID: id, Ago: 30 * time.Minute, Source: "old"}, {ID: other, Ago: 20 * time.Minute, Source: HTTP}}))
	m := meter(t, db, Config{RedisURL: redis.URL()})
	read, err := m.shelf.list(t.Context())
	ok(t, err)
	if len(read) != 2 || read[0].ID != other || read[1].Source != Terminal || read[1].Ago > 15*time.Minute {
		t.Fatalf("%+v", read)
	}
	// A use that arrives while they are written is not removed.
	ok(t, gone.shelf.put(t.Context(), []workspace.Use{{ID: other, Ago: 0, Source: WebSocket}}))
	ok(t, m.shelf.take(t.Context(), read))
	read, err = m.shelf.list(t.Context())
	ok(t, err)
	if len(read) != 1 || read[0].ID != other || read[0].Source != WebSocket || read[0].Ago > 10*time.Minute {
		t.Fatalf("%+v", read)
	}
	ok(t, gone.shelf.put(t.Context(), []workspace.Use{{ID: id, Ago: 2 * time.Minute, Source: Terminal}}))
	ok(t, m.Store(t.Context()))
	if ago, source := last(t, db, id); ago < 2*time.Minute || ago > 15*time.Minute || source != Terminal {
		t.Errorf("used %s ago by %s", ago, source)
	}
	if ago, source := last(t, db, other); ago > 10*time.Minute || source != WebSocket {
		t.Errorf("used %s ago by %s", ago, source)
	}
	if n := client.Exists(t.Context(), defaultPrefix+"used", defaultPrefix+"source").Val(); n != 0 {
		t.Errorf("%d keys are left in Redis", n)
	}
}

// If Redis is away or has lost its data, a server's own uses are not lost, and the log
// reports once that Redis is away.
func TestRedisAway(t *testing.T) {
	db := testdb.New(t)
	id := row(t, db, "first")
	redis := redistest.New(t)
	redis.Start()
	j := &journal{}
	m := meter(t, db, Config{RedisURL: redis.URL(), Log: slog.New(slog.NewTextHandler(j, nil))})
	m.Use(id, HTTP)
	m.Shelve(t.Context())
	client := redis.Client()
	defer client.Close()
	ok(t, client.FlushAll(t.Context()).Err())
	ok(t, m.Store(t.Context()))
	if ago, source := last(t, db, id); ago > 30*time.Minute || source != HTTP {
		t.Errorf("Redis forgot: %s ago by %s", ago, source)
	}
	redis.Kill()
	m.mu.Lock()
	m.known[id].last = m.known[id].last.Add(-throttle)
	m.mu.Unlock()
	m.Use(id, Terminal)
	for range 3 {
		m.Shelve(t.Context())
		ok(t, m.Store(t.Context()))
	}
	if _, source := last(t, db, id); source != Terminal {
		t.Errorf("Redis is away: by %s", source)
	}
	if n := j.count("straight to the database"); n != 1 {
		t.Errorf("it was said %d times", n)
	}
	redis.Start()
	testwait.Until(t, "the log to say that Redis is back", func() bool {
		ok(t, m.Store(t.Context()))
		return j.count("again") == 1
	})
	// A foreign value under the key does not lose known uses.
	ok(t, client.ZAdd(t.Context(), defaultPrefix+"used", redisZ("not an id")).Err())
	ok(t, m.Store(t.Context()))
	// A wrong URL is refused, and the error does not repeat its password.
	if _, err := New(Config{RedisURL: "redis://:secret word@x:y"}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func redisZ(member string) redis.Z { return redis.Z{Score: 1, Member: member} }
