//go:build unix

package chaos

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/schema"
)

// ordinary is a run without faults: people use the system, and operators do what they do
// every week.
type ordinary struct {
	*mix
	*site
	lead *os.Process
	done []string
}

// deed is one such action. It ends what it began.
type deed struct {
	name string
	do   func(o *ordinary)
}

var deeds = []deed{
	{"a user submits in a transaction that stays open", func(o *ordinary) {
		o.inTx(pgx.ReadCommitted, `select weir.submit('work', '{"work_ms": 5}') from generate_series(1, 5)`)
	}},
	{"a user finishes work in a transaction that stays open", func(o *ordinary) {
		o.mix.exec(`select weir.submit('own', pool => 'users')`)
		o.inTx(pgx.ReadCommitted, `select weir.finish(c.task, c.attempt, c.token) from weir.claim('user', '{own}') c`)
	}},
	{"a user takes back what was submitted", func(o *ordinary) {
		tx, err := o.mix.pool.Begin(o.mix.ctx)
		if err != nil {
			o.mix.Fatal(err)
		}
		if _, err := tx.Exec(o.mix.ctx, `select weir.submit('work') from generate_series(1, 5)`); err != nil {
			o.mix.Errorf("submit: %v", err)
		}
		o.mix.pass(200 * time.Millisecond)
		if err := tx.Rollback(o.mix.ctx); err != nil {
			o.mix.Error(err)
		}
	}},
	{"somebody holds a snapshot", func(o *ordinary) { o.inTx(pgx.RepeatableRead, `select count(*) from weir.tasks`) }},
	{"a server is replaced", func(o *ordinary) {
		next := o.site.server()
		how := []os.Signal{syscall.SIGTERM, syscall.SIGKILL}[o.mix.rng.IntN(2)]
		_ = o.lead.Signal(how) // it may have ended
		o.lead = next
	}},
	{"weir migrate", func(o *ordinary) {
		if out, err := o.site.command("migrate").CombinedOutput(); err != nil {
			o.mix.Errorf("weir migrate: %v\n%s", err, out)
		}
	}},
	{"functions are written anew beside load", func(o *ordinary) {
		for _, fsys := range []fs.FS{o.newer(), schema.FS} {
			if _, err := pg.Migrate(o.mix.ctx, o.mix.url, fsys); err != nil {
				o.mix.Errorf("migrate: %v", err)
			}
		}
	}},
}

// inTx runs a statement and keeps the transaction open for a while.
func (o *ordinary) inTx(level pgx.TxIsoLevel, sql string) {
	o.mix.Helper()
	err := pgx.BeginTxFunc(o.mix.ctx, o.mix.pool, pgx.TxOptions{IsoLevel: level}, func(tx pgx.Tx) error {
		_, err := tx.Exec(o.mix.ctx, sql)
		o.mix.pass(100*time.Millisecond + time.Duration(o.mix.rng.IntN(900))*time.Millisecond)
		return err
	})
	if err != nil {
		o.mix.Errorf("%s: %v", sql, err)
	}
}

// newer returns the schema of the next release: functions of the hot path with another
// text.
func (o *ordinary) newer() fs.FS {
	o.mix.Helper()
	next := fstest.MapFS{}
	err := fs.WalkDir(schema.FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(schema.FS, path)
		switch path {
		case "functions/engine/claim.sql", "functions/engine/finish_many.sql", "functions/engine/renew.sql", "functions/engine/tend.sql":
			text = append(text, "-- the next release\n"...)
		}
		next[path] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		o.mix.Fatal(err)
	}
	return next
}

// newOrdinary starts a server, workers that are connected in every documented way, and a
// pool for users.
func newOrdinary(t *testing.T, seed uint64, limit time.Duration) *ordinary {
	t.Helper()
	t.Logf("seed %d", seed)
	s := newSiteOf(t, limit)
	o := &ordinary{site: s, mix: newMix(s.run, seed)}
	o.mix.exec(`select weir.set_pool('users', 2)`)
	pooled := testdb.Bounce(t, s.url, "pool_mode = transaction", "default_pool_size = 4")
	o.mix.agent(with(plain(), func(a *Orders) {
		// It uses plain pgx, which does not detect poolers as the SDK does.
		a.Name, a.URL, a.Listen = "behind-a-pooler", pooled+"&default_query_exec_mode=cache_describe", false
	}), nil)
	o.lead = o.site.server()
	return o
}

// goOn does one deed after the other, in an order that the seed determines, each at least
// once.
func (o *ordinary) goOn(length time.Duration) {
	o.mix.Helper()
	for until, n := time.Now().Add(length), 0; n < len(deeds) || time.Now().Before(until); n++ {
		if n%len(deeds) == 0 {
			o.mix.rng.Shuffle(len(deeds), func(i, j int) { deeds[i], deeds[j] = deeds[j], deeds[i] })
		}
		o.mix.tasks(20)
		d := deeds[n%len(deeds)]
		o.done = append(o.done, d.name)
		d.do(o)
	}
	// Tasks that users claimed and rolled back end like those of any worker.
	o.mix.eventually("users have ended their work", func() bool {
		o.mix.exec(`select weir.finish(c.task, c.attempt, c.token) from weir.claim('user', '{own}', 10) c`)
		var left int
		err := o.mix.pool.QueryRow(o.mix.ctx, `select count(*) from weir.task where service = 'own' and state not in ('done', 'failed', 'canceled', 'skipped')`).Scan(&left)
		return err == nil && left == 0
	})
	o.mix.heal()
}

// judged judges the history as after faults.
func (o *ordinary) judged(length time.Duration) {
	o.mix.Helper()
	follower := Follow(o.mix.ctx, o.mix.pool)
	o.goOn(length)
	o.mix.settle()
	o.mix.silent["user"] = true
	o.mix.clean()
	found, err := follower.Findings(o.mix.ctx)
	if err != nil {
		o.mix.Fatal(err)
	}
	if len(found) > 0 {
		o.mix.Error(Report(found))
	}
	o.mix.Logf("deeds: %s", strings.Join(o.done, "; "))
}

// TestOrdinaryOperation does every deed once while work continues. The history of all
// clients is as good as that of an undisturbed system.
func TestOrdinaryOperation(t *testing.T) {
	t.Parallel()
	newOrdinary(t, 1, 5*time.Minute).judged(0)
}
