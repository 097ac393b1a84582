//go:build unix

package chaos

import (
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/rollout"
	changes "github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// crash is a server that is killed with -9 while it changes a database. A lock of another
// session holds it at the point.
type crash struct {
	name string
	// change is the second change of the database; the first makes the table base, the
	// table counter and the procedure bump.
	change string
	// hold are statements of another session in the database, and point is a part of the
	// statement that waits for it.
	hold  []string
	point string
	// applied means that the lock is released, and the run is held once more when it has
	// committed and records that.
	applied bool
	// ended means that the database notices at once that its client is gone. Otherwise it
	// continues with the statement.
	ended bool
	// lingers means that its session is still there, waiting, when the resolver looks.
	lingers bool
	// codes are the possible verdicts about the run, as far as the database can prove it:
	// applied ends by itself. Nil means that nothing can prove it, and a person must
	// decide.
	codes []string
}

const (
	crashTables = "create table base (id int primary key, note varchar(20));\ninsert into base values (1, 'a'), (2, 'b');\ncreate table counter (n int);\ninsert into counter values (0);\n"
	crashSetup  = crashTables + "create procedure bump() language plpgsql as $$ begin update counter set n = n + 1; commit; end $$;\n"
	mariaSetup  = crashTables + "create procedure bump() update counter set n = n + 1;\n"

	patient  = "-- weir: lock_timeout=2m\n"
	twoSteps = patient + "create table a (id int primary key);\nalter table base add column extra int;\n"
	onIndex  = "create index concurrently base_note on base (note);\n"
	bumped   = "-- weir: transaction=off lock_timeout=2m\ncall bump();\n"
)

// crashes are the points of a run on PostgreSQL.
var crashes = []crash{
	{name: "before begin", change: twoSteps, hold: []string{"begin", "lock table weir_fence in exclusive mode"}, point: "weir_fence", codes: []string{"lost_before_sent"}},
	{name: "in the change", change: twoSteps, hold: []string{"begin", "update base set note = 'x'"}, point: "alter table base", lingers: true, codes: []string{"not_applied"}},
	{name: "after the change, before the history row", change: twoSteps, hold: []string{"begin", "lock table weir_history in share mode"}, point: "insert into", lingers: true, codes: []string{"not_applied"}},
	{
		name: "after commit, before the report", change: twoSteps, hold: []string{"begin", "lock table weir_history in share mode"}, point: "insert into",
		applied: true, codes: []string{"applied"},
	},
	// The retry removes what is left half made.
	{name: "during an index", change: onIndex, hold: []string{"begin", "update base set note = 'x'"}, point: "concurrently", ended: true, codes: []string{"partial"}},
	// The server makes the index without its client, and the probe proves that.
	{name: "during an index that gets made", change: onIndex, hold: []string{"begin", "update base set note = 'x'"}, point: "concurrently", lingers: true, codes: []string{"applied"}},
	{name: "in what has no probe, done", change: bumped, hold: []string{"begin", "update counter set n = 0"}, point: "bump"},
	{name: "in what has no probe, undone", change: bumped, hold: []string{"begin", "update counter set n = 0"}, point: "bump", ended: true},
}

// mariaCrashes are the points on MariaDB, where each DDL commits by itself.
var mariaCrashes = []crash{
	{name: "before begin", change: twoSteps, hold: []string{"lock tables weir_fence write"}, point: "weir_fence", codes: []string{"lost_before_sent"}},
	// The server may notice the loss or continue. Both can be proven.
	{name: "during a DDL", change: twoSteps, hold: []string{"begin", "select * from base"}, point: "alter table base", codes: []string{"partial", "applied"}},
	// All its steps are found done.
	{name: "after the change, before the history row", change: twoSteps, hold: []string{"lock tables weir_history read"}, point: "weir_history", codes: []string{"applied"}},
	{
		name: "after commit, before the report", change: twoSteps, hold: []string{"lock tables weir_history read"}, point: "weir_history",
		applied: true, codes: []string{"applied"},
	},
	{name: "in what has no probe, done", change: bumped, hold: []string{"begin", "update counter set n = 0"}, point: "n = n + 1"},
	{name: "in what has no probe, undone", change: bumped, hold: []string{"begin", "update counter set n = 0"}, point: "n = n + 1", ended: true},
}

// TestRolloutServerKilled kills whole servers in the middle of a change. All the points
// are in TestLongRolloutServerKilled (build tag chaos).
func TestRolloutServerKilled(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		runCrashes(t, changes.Postgres, crashSetup, crashes, "after the change, before the history row", "during an index")
	})
	t.Run("mariadb", func(t *testing.T) {
		runCrashes(t, changes.MySQL, mariaSetup, mariaCrashes, "after commit, before the report")
	})
}

// runCrashes runs those with these names, or all.
func runCrashes(t *testing.T, engine changes.Engine, setup string, list []crash, names ...string) {
	for _, c := range list {
		if len(names) == 0 || strings.Contains(strings.Join(names, "\n")+"\n", c.name+"\n") {
			t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				c.run(newSite(t, engine, setup))
			})
		}
	}
}

func (c crash) run(s *site) {
	change := s.change(2, c.change)
	release := s.hold(s.first, c.hold...)
	first := s.server()
	id := s.start(s.first, change)
	s.until(id, "the run is at the point", func() bool { return s.waitsIn(id, c.point) })
	if c.applied {
		release = s.atReport(id, release)
	}
	s.signal(first, syscall.SIGKILL)
	if c.ended {
		s.terminate(id)
	}
	s.server()
	s.lapse(id)
	if c.lingers {
		// As long as its session lives it may still commit. On a busy machine the session
		// may be over before the resolver looks.
		judged := false
		s.until(id, "the resolver has looked", func() bool {
			t := s.task(id)
			judged = t.Status == rollout.Failed
			return judged || t.Status == rollout.Unknown && strings.Contains(t.Cause+t.Error+s.note(id), "it still runs")
		})
		if judged {
			s.expect(s.first, "0", `select count(*) from pg_stat_activity where application_name = $1`, target.ApplicationName(id.String(), 1))
		}
	}
	release()
	if c.codes == nil {
		c.decide(s, id)
	} else {
		c.proven(s, id)
	}
	if t := s.ends(id, rollout.Done); t.Attempt != 2 && len(c.codes) > 0 {
		s.Errorf("attempt %d ended it, want 2", t.Attempt)
	}
	s.conclude(change, "select count(*) from base", "select n from counter")
}

// atReport lets a run commit and holds it when it records that. The given release lets it
// commit.
func (s *site) atReport(id weir.ID, release func()) func() {
	s.Helper()
	tx, err := s.pool.Begin(s.ctx)
	if err == nil {
		_, err = tx.Exec(s.ctx, `select from weir.rollout_runs where task = $1 for update`, id)
	}
	if err != nil {
		s.Fatal(err)
	}
	release()
	var pid int
	s.until(id, "it has committed and says so", func() bool {
		err := s.pool.QueryRow(s.ctx, `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%rollout_phase%'`).Scan(&pid)
		return err == nil && s.one(s.first, `select count(*) from weir_history where version = '2'`) == "1"
	})
	return func() {
		// The pending report must not be made, so the test waits until the database has
		// ended the session.
		if _, err := s.pool.Exec(s.ctx, `select pg_terminate_backend($1, 10000)`, pid); err != nil {
			s.Error(err)
		}
		if err := tx.Rollback(s.ctx); err != nil {
			s.Error(err)
		}
	}
}

// note returns what is known of attempt 1.
func (s *site) note(id weir.ID) string {
	s.Helper()
	report, err := s.store.Run(s.ctx, id, 1)
	if err != nil || len(report.Attempts) == 0 {
		s.Fatal(report, err)
	}
	return report.Attempts[0].Note
}

// proven expects a verdict without the help of a person. An applied change is done; one
// that was not applied is safe to retry.
func (c crash) proven(s *site, id weir.ID) {
	s.Helper()
	var code string
	s.until(id, "a verdict: "+strings.Join(c.codes, " or "), func() bool {
		report, err := s.store.Run(s.ctx, id, 1)
		if err != nil {
			s.Fatal(err)
		}
		code = report.Attempts[0].Code
		for _, want := range c.codes {
			if code == want {
				return true
			}
		}
		return false
	})
	s.Logf("attempt 1: %s, %s", code, s.note(id))
	if code == "applied" {
		return // it ends by itself
	}
	if t := s.ends(id, rollout.Failed); t.Code != code {
		s.Errorf("it failed with %s", t.Code)
	}
	s.expect(s.first, "0", `select count(*) from weir_history where version = '2'`)
	s.must(s.store.Retry(s.ctx, "bob", id))
}

// decide is for runs whose result cannot be proven: the task stays UNKNOWN, a retry is
// refused, and a person decides.
func (c crash) decide(s *site, id weir.ID) {
	s.Helper()
	s.until(id, "nothing in the database tells", func() bool {
		return s.task(id).Status == rollout.Unknown && strings.Contains(s.note(id), "nothing in the target tells")
	})
	if a, err := s.store.Retry(s.ctx, "bob", id); err == nil {
		s.Fatalf("a run that may have been applied is tried again: %+v", a)
	}
	verdict := "--applied"
	if c.ended {
		verdict = "--not-applied"
	}
	s.expect(s.first, map[bool]string{true: "0", false: "1"}[c.ended], "select n from counter")
	s.Log(strings.TrimSpace(s.product("rollout", "resolve", id.String(), verdict, "--reason", "looked at the counter")))
	if c.ended {
		s.ends(id, rollout.Failed)
		s.must(s.store.Retry(s.ctx, "bob", id))
	}
}
