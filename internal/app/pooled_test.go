//go:build unix

package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/work"
)

// A server, commands and an agent work through PgBouncer in transaction mode with
// nothing but the URL, from the first migration on, and the doctor says what that
// costs. So do settings of the pool.
func TestAllThroughPgBouncer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	db := testdb.NewEmpty(t)
	through := testdb.Bounce(t, db.URL, "pool_mode = transaction", "default_pool_size = 8", "max_client_conn = 200") + "&pool_max_conns=6&pool_max_conn_lifetime=1h"
	startProcess(t, through)
	if _, err := Migrate(ctx, Config{}.Defaults(), through); err != nil {
		t.Fatal(err)
	}
	target := Target{Database: through}
	s, err := Connect(ctx, target, Who{Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	agent, err := NewAgent(ctx, Config{}.Defaults(), target, AgentConfig{Node: "pc1", Slots: map[string]int{"exec": 2}, Dir: t.TempDir()}, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	life, end := context.WithCancel(ctx)
	go func() { ended <- agent.Run(life, ctx, nil) }()
	defer func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for range 3 {
		job, err := work.SubmitJob.Call(ctx, s.Operations, &work.SubmittingJob{Body: work.JobSpec{Name: "j", Tasks: []work.TaskSpec{
			{Key: "a", Service: "exec", Run: json.RawMessage(`{"driver": "exec", "argv": ["true"]}`)},
			{Key: "b", Service: "exec", Needs: []string{"a"}, Run: json.RawMessage(`{"driver": "exec", "argv": ["true"]}`)},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		testwait.Until(t, "the agent does it", func() bool {
			var done int
			if err := db.Pool.QueryRow(ctx, `select done from weir.job where id = $1`, job.ID).Scan(&done); err != nil {
				t.Fatal(err)
			}
			return done == 2
		})
	}
	report, err := work.Doctor.Call(ctx, s.Operations, &work.Examining{Deep: true})
	if err != nil {
		t.Fatal(err)
	}
	warned := false
	for _, f := range report.Items {
		switch {
		case f.Name == "hints are heard":
			warned = !f.OK && f.Level == "health" && strings.Contains(f.Detail, "polled")
		case !f.OK && f.Level != "health":
			t.Errorf("%s: %s", f.Name, f.Detail)
		}
	}
	if !warned {
		t.Error("the doctor does not say that hints are polled")
	}
}

// isolated sets the default isolation of a database until the test ends.
func isolated(t *testing.T, db *testdb.DB) {
	t.Helper()
	for _, what := range []string{`set default_transaction_isolation = ''repeatable read''`, `reset default_transaction_isolation`} {
		do := func() {
			if _, err := db.Pool.Exec(context.Background(), `do $$ begin execute format('alter database %I `+what+`', current_database()); end $$`); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if strings.HasPrefix(what, "reset") {
			t.Cleanup(do)
		} else {
			do()
		}
	}
}

// Where transactions are REPEATABLE READ by default and a pooler lets no session say
// otherwise, a server still does what time brings about: it says the isolation with
// each transaction that needs one.
func TestPooledWhereTransactionsAreNotReadCommitted(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	isolated(t, db)
	log := &testwait.Text{}
	config := Config{DatabaseURL: testdb.Bounce(t, db.URL, "pool_mode = transaction", "default_pool_size = 8", "max_client_conn = 200"), LogLevel: "warn"}
	r := up(t, config, Options{Log: config.Logger(log)})
	for _, sql := range []string{
		`select weir.set_pool('p', 1)`, `select weir.submit('idle', pool => 'p', run_at => clock_timestamp() + interval '1 s')`,
		`select weir.submit('dead'), weir.register_worker('w', '{dead}')`, `select from weir.claim('w', '{dead}', lease => '1 s')`,
	} {
		if _, err := db.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	testwait.Until(t, "what is due is available, and the lease of a dead worker is over", func() bool {
		var n int
		if err := db.Pool.QueryRow(t.Context(), `select count(*) from weir.task where service in ('idle', 'dead') and state = 'available'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == 2
	})
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if said := log.String(); strings.Contains(said, "repeatable read") {
		t.Errorf("the log:\n%s", said)
	}
}

// A database that was loaded from a dump goes on where transactions are REPEATABLE
// READ by default, too.
func TestMigrateWhereTransactionsAreNotReadCommitted(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	isolated(t, db)
	if _, err := db.Pool.Exec(t.Context(), `update weir.cluster set identity = 1`); err != nil { // another one's
		t.Fatal(err)
	}
	if _, err := Migrate(t.Context(), Config{}.Defaults(), db.URL); err != nil {
		t.Fatal(err)
	}
	var adopted bool
	if err := db.Pool.QueryRow(t.Context(), `select identity <> 1 from weir.cluster`).Scan(&adopted); err != nil || !adopted {
		t.Errorf("it was not adopted: %v", err)
	}
}
