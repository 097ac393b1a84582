//go:build unix

package chaos

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/rollout"
	changes "github.com/weirhq/weir/internal/rollout/script"
)

// TestRolloutServerPaused stops a whole server with SIGSTOP while it changes a database,
// past its lease. Another one does the work; the first wakes up and can change nothing
// anymore.
func TestRolloutServerPaused(t *testing.T) {
	t.Parallel()
	t.Run("in_the_change", func(t *testing.T) {
		t.Parallel()
		pausedInside(newSite(t, changes.Postgres, crashSetup), "begin", "lock table weir_history in share mode")
	})
	t.Run("before_it_is_connected", func(t *testing.T) {
		t.Parallel()
		pausedOutside(newSite(t, changes.Postgres, crashSetup))
	})
}

// pausedInside stops the server in the middle of its transaction. An operator believes
// that nothing was applied and retries: the new attempt ends the session of the old one
// before it begins.
func pausedInside(s *site, hold ...string) {
	change := s.change(2, twoSteps)
	release := s.hold(s.first, hold...)
	first := s.server()
	id := s.start(s.first, change)
	s.until(id, "the run is at the point", func() bool { return s.waitsIn(id, "weir_history") })
	s.signal(first, syscall.SIGSTOP)
	second := s.server()
	s.lapse(id)
	s.until(id, "it is unknown, and the resolver has looked", func() bool {
		return s.task(id).Status == rollout.Unknown && strings.Contains(s.note(id), "it still runs")
	})
	s.must(s.store.Resolve(s.ctx, "bob", id, false, "its server does not answer"))
	s.must(s.store.Retry(s.ctx, "bob", id))
	s.until(id, "attempt 2 has ended the session of attempt 1", func() bool {
		return slices.ContainsFunc(s.log(id, 2), func(line string) bool { return strings.Contains(line, "ended the session of an older attempt") })
	})
	release()
	s.ends(id, rollout.Done)
	s.woken(id, first, second, change)
}

// pausedOutside stops the server before it has a session that could be ended.
func pausedOutside(s *site) {
	proxy, err := NewProxy(s.Name(), "tcp://"+s.first.address)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(proxy.Close)
	s.register(s.first, strings.Replace(s.first.dsn, s.first.address, strings.TrimPrefix(proxy.URL(), "tcp://"), 1))
	change := s.change(2, twoSteps)
	first := s.server()
	if err := proxy.Partition(); err != nil {
		s.Fatal(err)
	}
	id := s.start(s.first, change)
	// It should be stopped while it connects, and not before it has asked what to do.
	s.until(id, "its run has begun", func() bool { t := s.task(id); return t.Status == rollout.Running && t.Phase != "" })
	s.signal(first, syscall.SIGSTOP)
	proxy.Heal()
	second := s.server()
	s.lapse(id)
	if t := s.ends(id, rollout.Failed); t.Code != "lost_before_sent" {
		s.Errorf("it failed with %s", t.Code)
	}
	s.must(s.store.Retry(s.ctx, "bob", id))
	s.ends(id, rollout.Done)
	s.woken(id, first, second, change)
}

// log returns the messages of one attempt.
func (s *site) log(id weir.ID, attempt int) (lines []string) {
	s.Helper()
	if s.task(id).Attempt < attempt {
		return nil
	}
	report, err := s.store.Run(s.ctx, id, attempt)
	if err != nil {
		return nil // it has not begun
	}
	for _, l := range report.Log {
		lines = append(lines, l.Message)
	}
	return lines
}

// woken lets the first server continue: its late report is recorded, and nothing else
// changes. It is a good server again: with the second one gone it applies the same change
// to the twin.
func (s *site) woken(id weir.ID, first, second *os.Process, change changes.Change) {
	s.Helper()
	late := func() (n int) {
		if err := s.pool.QueryRow(s.ctx, `select count(*) from weir.event where task = $1 and attempt = 1 and type = 'stale'`, id).Scan(&n); err != nil {
			s.Fatal(err)
		}
		return n
	}
	if n := late(); n > 0 {
		s.Fatalf("%d late words of a server that sleeps", n)
	}
	s.signal(first, syscall.SIGCONT)
	s.until(id, "its late word is written down", func() bool { return late() > 0 })
	if t := s.task(id); t.Status != rollout.Done || t.Attempt != 2 {
		s.Errorf("its late word changed the task: %+v", t)
	}
	s.expect(s.first, "2", `select attempt from weir_history where version = '2'`)
	s.signal(second, syscall.SIGKILL)
	s.conclude(change, "select count(*) from base")
	s.expect(s.first, "2", `select attempt from weir_history where version = '2'`)
}
