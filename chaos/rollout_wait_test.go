//go:build unix

package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/internal/rollout"
	changes "github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// TestRolloutBesideAnIndex checks that, while an index is built concurrently, a second
// rollout of the same Weir waits at its gate, and one of another Weir waits for the
// database itself. Both name the holder, and neither keeps the index from getting ready.
func TestRolloutBesideAnIndex(t *testing.T) {
	t.Parallel()
	s, other := newSite(t, changes.Postgres, crashSetup), newSite(t, changes.Postgres, crashSetup)
	release := s.hold(s.first, "begin", "update base set note = 'x'")
	s.server()
	index := s.start(s.first, s.change(2, onIndex))
	s.until(index, "the index waits for the transaction", func() bool { return s.waitsIn(index, "concurrently") })

	next := s.start(s.first, s.change(3, "create table next (id int);\n"))
	if w := s.ends(next, rollout.Pending); w.Blocker != index || w.Cause == "" {
		t.Errorf("the second rollout waits for %s (%s), want %s", w.Blocker, w.Cause, index)
	}

	other.server()
	shared := *s.first
	shared.name = "shared"
	other.register(&shared, shared.dsn)
	guest := other.start(&shared, other.change(4, "create table guest (id int);\n"))
	holder := target.ApplicationName(index.String(), 1)
	other.until(guest, "the other Weir names who has the database", func() bool {
		return slices.ContainsFunc(other.log(guest, 1), func(line string) bool { return strings.Contains(line, holder) })
	})
	if got := s.one(s.first, `select count(*) from pg_locks where not granted and locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`); got != "0" {
		t.Errorf("%s wait for the lock inside the server", got)
	}
	if w := s.task(index); w.Status != rollout.Running {
		t.Errorf("the index is %s: nothing was tested", w.Status)
	}
	release()
	s.ends(index, rollout.Done)
	// Either of the two may come first: 3 after 4 is out of order, and the error says so.
	other.ends(guest, rollout.Done)
	if w := s.ends(next, rollout.Done, rollout.Failed); w.Status == rollout.Failed && w.Code != target.CodeOrder {
		t.Errorf("%+v", w)
	}
	s.expect(s.first, "true", `select indisvalid from pg_index where indexrelid = 'base_note'::regclass`)
	for _, one := range []*site{s, other} {
		if found := one.run.doctor(); len(found) > 0 {
			t.Errorf("%s", Report(found))
		}
	}
}

// TestRolloutBehindALongTransaction checks a change that needs a lock which a long
// transaction holds. It gives up its place in the queue each time its lock_timeout is
// over, so readers get through; the log shows each retry; in the end it succeeds.
func TestRolloutBehindALongTransaction(t *testing.T) {
	t.Parallel()
	behindALongTransaction(newSite(t, changes.Postgres, crashSetup), "set lock_timeout = '30s'")
}

// behindALongTransaction checks that no reader waits for 30 s, which is far longer than
// the lock_timeout of the change.
func behindALongTransaction(s *site, patience string) {
	release := s.hold(s.first, "begin", "update base set note = 'x' where id = 1")
	s.server()
	change := s.change(2, "-- weir: lock_timeout=1s\nalter table base add column extra int;\n")
	id := s.start(s.first, change)
	ctx, stop := context.WithCancel(s.ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer stop()
	var read atomic.Int64
	for range 4 {
		readers.Go(func() {
			conn, err := s.first.Conn(ctx)
			if err == nil {
				defer conn.Close()
				_, err = conn.ExecContext(ctx, patience)
			}
			for err == nil {
				var n int
				err = conn.QueryRowContext(ctx, "select count(*) from base").Scan(&n)
				read.Add(1)
			}
			if ctx.Err() == nil {
				s.Errorf("a reader waited too long: %v", err)
			}
		})
	}
	retries := func() int {
		n := 0
		for _, line := range s.log(id, 1) {
			if strings.Contains(line, target.CodeLockTimeout) && strings.Contains(line, "by pid ") {
				n++
			}
		}
		return n
	}
	// Between two retries the readers make progress, although the transaction is open.
	for want := range 3 {
		before := read.Load()
		s.until(id, fmt.Sprintf("retry %d in the log", want+1), func() bool { return retries() > want })
		s.until(id, "readers get through", func() bool { return read.Load() > before })
	}
	if t := s.task(id); t.Status != rollout.Running {
		s.Errorf("it is %s: nothing was tested", t.Status)
	}
	s.expect(s.first, "0", `select count(*) from weir_history where version = '2'`)
	release()
	s.ends(id, rollout.Done)
	stop()
	readers.Wait()
	report, err := s.store.Run(s.ctx, id, 1)
	if err != nil {
		s.Fatal(err)
	}
	tries := 0
	for _, l := range report.Log {
		if l.Statement != nil {
			tries = l.Statement.Try
		}
	}
	if tries < 4 {
		s.Errorf("the statement that succeeded says it was try %d", tries)
	}
	s.conclude(change, "select count(*) from base")
}
