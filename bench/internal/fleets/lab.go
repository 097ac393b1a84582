package fleets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/schema"
)

// Size is the size of a lab.
type Size struct {
	PCs, Devices, Slots int
	// Connections is how many calls of PCs the database handles at once.
	Connections int
	// Busy is how many PCs make a call at once.
	Busy int
}

// rounds of the job: three times all devices, and below the limit of a job.
const rounds = 3

// lease is longer than the benchmark, so that a slow machine loses none.
const lease = 10 * time.Minute

// otherConns is the number of connections that do not belong to PCs: the leader and a
// plain queue.
const otherConns = 4

// Lab is a fleet in one database.
type Lab struct {
	// Pool is the pool of the server that the PCs connect to.
	Pool   *pgxpool.Pool
	others *pgxpool.Pool
	size   Size
	pcs    []*pc
	job    weir.ID
	// ends is shared by the desks of a server.
	ends node.Ends
	// ended counts the runs that were ended.
	ended atomic.Int64
}

// pc is one PC. A caller that acts for it holds mu.
type pc struct {
	mu     sync.Mutex
	name   string
	desk   *node.Desk
	report []byte
	// held are its leases, the oldest first.
	held []held
}

type held struct {
	Task    weir.ID
	Attempt int
	Token   weir.ID
}

// Open makes the lab in the empty database at url: every PC has reported its devices, and
// one job wants each of them three times.
func Open(ctx context.Context, url string, size Size) (lab *Lab, err error) {
	if _, err := pg.Migrate(ctx, url, schema.FS); err != nil {
		return nil, fmt.Errorf("migrate Weir: %w", err)
	}
	pool, err := pg.Open(ctx, url, pg.Options{Name: "bench fleets", MaxConns: int32(size.Connections)}) // #nosec G115 -- small
	if err != nil {
		return nil, err
	}
	lab = &Lab{Pool: pool, size: size}
	defer func() {
		if err != nil {
			lab.Close()
		}
	}()
	if lab.others, err = pg.Open(ctx, url, pg.Options{Name: "bench fleets, others", MaxConns: otherConns}); err != nil {
		return nil, err
	}
	if _, err = pool.Exec(ctx, `select weir.ensure_partitions()`); err != nil {
		return nil, err
	}
	for i := range size.PCs {
		p := &pc{name: fmt.Sprintf("PC-%04d", i+1)}
		p.desk = node.NewDesk(pool, p.name, node.Options{Ends: &lab.ends})
		var devices []map[string]string
		for d := range size.Devices {
			devices = append(devices, map[string]string{"serial": fmt.Sprintf("%s-%02d", p.name, d+1), "hub": fmt.Sprintf("hub-%d", d/10)})
		}
		if p.report, err = json.Marshal(devices); err != nil {
			return nil, err
		}
		lab.pcs = append(lab.pcs, p)
	}
	if err = lab.each(ctx, lab.say); err != nil {
		return nil, fmt.Errorf("report devices: %w", err)
	}
	// The first successful run on a new device makes it good. The devices of a lab are
	// good from the start.
	if _, err = pool.Exec(ctx, `update weir.devices set health = 'good', check_at = null`); err != nil {
		return nil, err
	}
	err = pool.QueryRow(ctx, `select weir.fleet_submit('bench', jsonb_build_object('run', jsonb_build_object('argv', array['true']), 'target', '{"all": true}'::jsonb, 'repeat', $1::int))`, rounds).Scan(&lab.job)
	if err == nil {
		_, err = pool.Exec(ctx, `vacuum (analyze)`)
	}
	return lab, err
}

// Close closes the connections.
func (l *Lab) Close() {
	l.Pool.Close()
	if l.others != nil {
		l.others.Close()
	}
}

// Turns returns how many turns the job has work for after the slots were filled. PCs take
// turns evenly, except for a few.
func (l *Lab) Turns() int { return l.size.PCs * (l.size.Devices*rounds - l.size.Slots - 2*warmTurns) }

// each calls do for every PC once, several at a time.
func (l *Lab) each(ctx context.Context, do func(context.Context, *pc) error) error {
	var next atomic.Int64
	return l.crew(func() error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(l.pcs) {
				return nil
			}
			if err := do(ctx, l.pcs[i]); err != nil {
				return fmt.Errorf("%s: %w", l.pcs[i].name, err)
			}
		}
	})
}

// crew runs do in as many goroutines as PCs make calls at once.
func (l *Lab) crew(do func() error) error {
	errs := make([]error, l.size.Busy)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = do() })
	}
	all.Wait()
	return errors.Join(errs...)
}

// say reports the devices of a PC.
func (l *Lab) say(ctx context.Context, p *pc) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := l.Pool.Exec(ctx, `select from weir.fleet_report($1, $2, slots => $3)`, p.name, p.report, l.size.Slots)
	return err
}

// claim asks for work for n slots of a PC. The caller holds the PC.
func (l *Lab) claim(ctx context.Context, p *pc, n int) (int, error) {
	rows, err := l.Pool.Query(ctx, `select task, attempt, token from weir.fleet_claim($1, $1, max => $2, lease => $3, claim_id => gen_random_uuid())`, p.name, n, lease)
	if err != nil {
		return 0, err
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[held])
	p.held = append(p.held, got...)
	return len(got), err
}

// Fill has every PC claim until all its slots run. It returns how long that took.
func (l *Lab) Fill(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	err := l.each(ctx, func(ctx context.Context, p *pc) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		n, err := l.claim(ctx, p, l.size.Slots)
		if want := min(l.size.Slots, l.size.Devices); err == nil && n != want {
			err = fmt.Errorf("it got %d, wanted %d", n, want)
		}
		return err
	})
	took := time.Since(began)
	if err != nil {
		return 0, fmt.Errorf("fill: %w", err)
	}
	// The vacuum does what autovacuum would do a minute later.
	if _, err := l.Pool.Exec(ctx, `vacuum (analyze)`); err != nil {
		return 0, err
	}
	return took, l.check(ctx)
}

// check compares the database with what the PCs believe.
func (l *Lab) check(ctx context.Context) error {
	var running, done int64
	if err := l.Pool.QueryRow(ctx, `select (select count(*) from weir.running where device is not null), (select done from weir.fleet_job where id = $1)`, l.job).Scan(&running, &done); err != nil {
		return fmt.Errorf("count what runs: %w", err)
	}
	var believed int64
	for _, p := range l.pcs {
		believed += int64(len(p.held))
	}
	if running != believed || done != l.ended.Load() {
		return fmt.Errorf("%d run and %d are done; the PCs know of %d and %d", running, done, believed, l.ended.Load())
	}
	return nil
}
