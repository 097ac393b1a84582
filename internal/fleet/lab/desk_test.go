package lab

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testdb"
)

// desk makes all calls, on one connection, each at the lab's time.
type desk struct {
	lab  *lab
	conn *pgx.Conn
	zero time.Time
	// told counts hints that there may be work, which agents listen to.
	told int
}

// leased is a lease as a PC gets it.
type leased struct {
	Task     weir.ID
	Attempt  int
	Token    weir.ID
	Job      *weir.ID
	Serial   string
	Deadline time.Time
}

func newDesk(l *lab) *desk {
	l.Helper()
	db := testdb.New(l.T)
	d := &desk{lab: l, zero: time.Now().Truncate(time.Millisecond)}
	config, err := pgx.ParseConfig(db.URL)
	if err != nil {
		l.Fatal(err)
	}
	config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { d.told++ }
	if d.conn, err = pgx.ConnectConfig(l.Context(), config); err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = d.conn.Close(context.Background()) }) // the database is dropped anyway
	d.exec(`listen weir_available`)
	// The jitter of retries is random, too.
	d.exec(`select setseed($1)`, float64(l.seed%1_000_000)/1_000_000)
	d.exec(meterSQL)
	return d
}

// time returns the lab's time for the database.
func (d *desk) time() time.Time { return d.zero.Add(d.lab.now) }

func (d *desk) exec(sql string, args ...any) {
	d.lab.Helper()
	if _, err := d.conn.Exec(d.lab.Context(), sql, args...); err != nil {
		d.lab.Fatalf("seed %d, %s: %s: %v", d.lab.seed, d.lab.clock(), sql, err)
	}
}

func (d *desk) scan(sql string, args []any, into ...any) {
	d.lab.Helper()
	if err := d.conn.QueryRow(d.lab.Context(), sql, args...).Scan(into...); err != nil {
		d.lab.Fatalf("seed %d, %s: %s: %v", d.lab.seed, d.lab.clock(), sql, err)
	}
}

// all returns the rows of a query.
func all[T any](d *desk, sql string, args ...any) []T {
	d.lab.Helper()
	rows, err := d.conn.Query(d.lab.Context(), sql, args...)
	if err == nil {
		var list []T
		if list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[T]); err == nil {
			return list
		}
	}
	d.lab.Fatalf("seed %d, %s: %s: %v", d.lab.seed, d.lab.clock(), sql, err)
	return nil
}

// stop is an attempt that a PC must end.
type stop struct {
	Task    weir.ID
	Attempt int
	Why     string
}

func (d *desk) report(pc string, devices []node.Device) []stop {
	text, err := json.Marshal(devices)
	if err != nil {
		d.lab.Fatal(err)
	}
	return all[stop](d, `select task, attempt, why from weir.fleet_report($1, $2, at => $3)`, pc, text, d.time())
}

func (d *desk) claim(pc string, most int) []leased {
	return all[leased](d, `select task, attempt, token, job, serial, deadline from weir.fleet_claim($1, $1, $2, lease => $3, at => $4) c`, pc, most, lease, d.time())
}

// answer is the answer of a renewal about one lease.
type answer struct {
	Task    weir.ID
	Refusal string
}

func (d *desk) renew(pc string, held []*attempt) []answer {
	tasks, attempts, tokens := make([]weir.ID, len(held)), make([]int, len(held)), make([]weir.ID, len(held))
	for i, a := range held {
		tasks[i], attempts[i], tokens[i] = a.Task, a.Attempt, a.Token
	}
	return all[answer](d, `select task, refusal from weir.renew($1, $2, $3, $4, $5, at => $6)`, pc, tasks, attempts, tokens, lease, d.time())
}

// end reports how an attempt ended and returns ok, or why that was refused. No other PC
// is notified: the attempt's own PC asks for the next one, and the next job announces
// itself.
func (d *desk) end(a *attempt, how fate) (said string) {
	args := []any{a.Task, a.Attempt, a.Token, d.time()}
	switch how {
	case succeeds:
		d.scan(`select weir.finish($1, $2, $3, hint => false, at => $4)`, args, &said)
	case fails, hangs:
		d.scan(`select weir.fail($1, $2, $3, 'the lab says so', hint => false, at => $4)`, args, &said)
	case breaks:
		d.scan(`select weir.fleet_fail($1, $2, $3, 'cable', infra => true, at => $4)`, args, &said)
	case canceled:
		d.scan(`select weir.confirm_cancel($1, $2, $3, hint => false, at => $4)`, args, &said)
	}
	return said
}

// tend is one turn of the leader. It returns whether anything changed, and in what time a
// task is due; 0 means none.
func (d *desk) tend() (changed bool, due time.Duration) {
	var at *time.Time
	for more := true; more; {
		var expired int
		d.scan(`select expired, more, next_at from weir.tend(sweep => true, at => $1)`, []any{d.time()}, &expired, &more, &at)
		changed = changed || expired > 0
	}
	for more := true; more; {
		var offline, missed int
		d.scan(`select offline, missed, more from weir.fleet_tend(at => $1)`, []any{d.time()}, &offline, &missed, &more)
		changed = changed || offline+missed > 0
	}
	if at != nil {
		due = max(at.Sub(d.time()), time.Millisecond)
	}
	return changed, due
}

// command is an action of a person. Refusals are answers.
func (d *desk) command(sql string, args ...any) (done bool) {
	_, err := d.conn.Exec(d.lab.Context(), sql, args...)
	if state, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(state.Code, "WR") {
		return false
	}
	if err != nil {
		d.lab.Fatalf("seed %d, %s: %s: %v", d.lab.seed, d.lab.clock(), sql, err)
	}
	return true
}
