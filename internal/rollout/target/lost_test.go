package target_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/testwait"
)

// through puts a proxy before a place. Cut breaks its connections and takes no
// new ones.
func (p *place) through(t *testing.T) (far *place, cut func()) {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, t.Name(), "127.0.0.1:0", p.address)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	other := *p
	other.dsn = strings.Replace(p.dsn, p.address, proxy.Listen, 1)
	return &other, proxy.Stop
}

func TestRule6ALostConnectionIsUnknown(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		const file, text = "V001__rows.sql", "insert into base values (1);\ninsert into base values (2);\n"
		p.exec(t, "create table base (id int primary key)")
		far, cut := p.through(t)
		run := p.change(t, 1, file, text)
		w := &watch{onStatement: func(s target.StatementDone) {
			if s.Index == 0 {
				cut()
			}
		}}
		_, err := far.open(t, target.Options{}).Apply(t.Context(), run, w)
		if f := failure(t, err, target.CodeLost); !f.Unknown {
			t.Errorf("%+v: want unknown", f)
		}
		p.resolves(t, run, target.NotApplied)
		p.expect(t, "0", "select count(*) from base")
		if _, err := p.open(t, target.Options{}).Apply(t.Context(), p.change(t, 2, file, text), &watch{}); err != nil {
			t.Fatal(err)
		}
		p.resolves(t, run, target.Applied)
		p.expect(t, "2", "select count(*) from base")
	})
}

// resolves asks until the target can tell.
func (p *place) resolves(t *testing.T, run target.Run, want target.Verdict) {
	t.Helper()
	var verdict target.Verdict
	var why string
	testwait.Every(t, 20*time.Millisecond, "the target can tell", func() bool {
		var err error
		if verdict, why, err = p.open(t, target.Options{}).Resolve(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		return verdict != target.CannotTell
	})
	if verdict != want {
		t.Errorf("verdict %s (%s), want %s", verdict, why, want)
	}
}

// TestRule6LostAfterCommitWasSent cuts the connection when the server has the
// commit and has not answered yet: something holds the commit up.
func TestRule6LostAfterCommitWasSent(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		const file, text = "V001__rows.sql", "-- weir: lock_timeout=1m\ninsert into base values (1);\n"
		p.exec(t, "create table base (id int primary key)")
		run := p.change(t, 1, file, text)
		far, cut := p.through(t)
		w := &watch{}
		var stuck func() bool
		var release func()
		switch p.engine {
		case script.Postgres:
			// A deferred trigger runs inside the commit and waits for a lock.
			p.exec(t, "create function wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(42); return null; end $$",
				"create constraint trigger late after insert on base deferrable initially deferred for each row execute function wait()")
			tx := p.hold(t, "select pg_advisory_lock(42)")
			stuck = func() bool {
				return p.one(t, "select count(*) from pg_stat_activity where application_name = $1 and query = 'commit' and wait_event = 'advisory'", target.ApplicationName(run.Task, 1)) == "1"
			}
			release = func() {
				if _, err := tx.ExecContext(t.Context(), "select pg_advisory_unlock(42)"); err != nil {
					t.Error(err)
				}
			}
		case script.MySQL:
			// A backup that has come to the point where commits wait.
			conn, err := p.db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			stage := func(names ...string) {
				for _, name := range names {
					if _, err := conn.ExecContext(t.Context(), "backup stage "+name); err != nil {
						t.Error(err)
					}
				}
			}
			w.onStatement = func(target.StatementDone) { stage("start", "flush", "block_ddl", "block_commit") }
			stuck = func() bool {
				return p.one(t, "select count(*) from information_schema.processlist where info = 'commit' and state like '%backup%'") == "1"
			}
			release = func() { stage("end") }
		}
		done := applying(t.Context(), far.open(t, target.Options{}), run, w)
		testwait.Until(t, "the commit is with the server", stuck)
		cut()
		if f := failure(t, <-done, target.CodeLost); !f.Unknown {
			t.Errorf("%+v: want unknown", f)
		}
		verdict, why, err := p.open(t, target.Options{}).Resolve(t.Context(), run)
		if err != nil || verdict != target.CannotTell {
			t.Errorf("while the commit is under way: %s (%s), %v", verdict, why, err)
		}
		release()
		p.resolves(t, run, target.Applied)
		result, err := p.open(t, target.Options{}).Apply(t.Context(), p.change(t, 2, file, text), &watch{})
		if err != nil || !result.Replayed {
			t.Errorf("again: %+v, %v", result, err)
		}
		p.expect(t, "1", "select count(*) from base")
	})
}

// A session that the server ends is no failure of the change either.
func TestRule6ATerminatedBackendIsUnknown(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		p.exec(t, "create table base (id int primary key)")
		db := p.open(t, target.Options{})
		run := p.change(t, 1, "V001__rows.sql", "insert into base values (1);\ninsert into base values (2);\n")
		w := &watch{onStatement: func(s target.StatementDone) {
			if n, err := db.Cancel(t.Context(), target.ApplicationName("task-V001__rows.sql", 1), true); n != 1 || err != nil {
				t.Errorf("ended %d sessions, %v", n, err)
			}
		}}
		_, err := db.Apply(t.Context(), run, w)
		if f := failure(t, err, target.CodeLost); !f.Unknown {
			t.Errorf("%+v: want unknown", f)
		}
		p.resolves(t, run, target.NotApplied)
	})
}
