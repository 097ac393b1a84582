//go:build unix

package chaos

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// when a blow falls on a call.
type when string

const (
	before when = "before"
	within when = "within"
	after  when = "after"
)

// moment is where a controller is struck: at the nth call of a kind.
type moment struct {
	call string
	nth  int
	when when
	// pause: it is stopped there and goes on late, when another has reigned for a
	// while. Otherwise it is dead.
	pause bool
	// still: when it goes on nobody has told it that its term is over.
	still bool
}

var errDead = errors.New("the controller is dead")

// reign is the life of one controller. Everything that it does outside of itself is a
// call, and each call can be its last.
type reign struct {
	house  *house
	epoch  int64
	ctx    context.Context
	end    context.CancelFunc
	moment moment
	// pool is its own, as that of a process is: it dies with connections in use.
	pool *pgxpool.Pool
	// work, ttl and collect are what the controller does again and again, and group what
	// it has begun.
	work, ttl, collect loop.Tick
	group              sync.WaitGroup

	mu    sync.Mutex
	calls map[string]int
	dead  bool
	// spared: no blow falls any more.
	spared bool
	onward sync.Once
	// struck is closed when the blow falls; a paused one goes on when late is closed.
	struck, late chan struct{}
}

// begin begins a reign: the epochs before it are over.
func (h *house) begin(m moment) *reign {
	h.Helper()
	r := &reign{house: h, moment: m, calls: map[string]int{}, struck: make(chan struct{}), late: make(chan struct{})}
	r.ctx, r.end = context.WithCancel(h.ctx)
	var err error
	if r.pool, err = pg.Open(h.ctx, h.url, pg.Options{Name: "controller"}); err != nil {
		h.Fatal(err)
	}
	h.scan(`insert into weir.system_locks as l (lock_name, holder_id, epoch, acquired_at, expires_at) values ($1, 'chaos', 1, now(), now() + interval '1 h')
		on conflict (lock_name) do update set epoch = l.epoch + 1 returning epoch`, []any{reignLock}, &r.epoch)
	h.epoch.Store(r.epoch)
	loops := workspace.Loops(workspace.Config{
		Pool: r.pool, Providers: []provider.Provider{&shakyProvider{h.provider, r}, &shakyProvider{h.second, r}}, LookMost: h.lookMost, Bucket: h.over(&shakyBucket{h.bucket, r}), Log: h.log.With("epoch", r.epoch), Now: h.now,
	}, r)
	if len(loops) != 3 {
		h.Fatalf("there are %d loops: have them called here", len(loops))
	}
	r.work, r.ttl, r.collect = loops[0].Tick, loops[1].Tick, loops[2].Tick
	return r
}

// Go lets the controller do something until its term is over.
func (r *reign) Go(f func(context.Context)) { r.group.Go(func() { f(r.ctx) }) }

const reignLock = "chaos"

// tick lets the controller do something once. It returns when that is done, and what was
// begun is too if wait is true; or when the blow has fallen on who is paused by it.
func (r *reign) tick(what loop.Tick, wait bool) error {
	done := make(chan error, 1)
	r.group.Go(func() {
		_, err := what(r.ctx, r.house.now())
		done <- err
	})
	over := make(chan error, 1)
	go func() {
		err := <-done
		if wait {
			r.group.Wait()
		}
		over <- err
	}()
	if !r.moment.pause {
		return <-over
	}
	select {
	case err := <-over:
		return err
	case <-r.struck:
		return nil
	}
}

// fallen: the blow has fallen.
func (r *reign) fallen() bool {
	select {
	case <-r.struck:
		return true
	default:
		return false
	}
}

// goOn lets a paused one go on.
func (r *reign) goOn() {
	r.onward.Do(func() {
		if r.fallen() && !r.moment.still {
			r.end()
		}
		close(r.late)
	})
}

// over ends the reign for good, when what it does is done. No blow falls any more.
func (r *reign) over() {
	r.mu.Lock()
	r.spared = true
	r.mu.Unlock()
	r.goOn()
	r.group.Wait()
	r.end()
	r.pool.Close()
}

// dies kills it, wherever it is.
func (r *reign) dies() {
	r.mu.Lock()
	r.dead = true
	r.mu.Unlock()
	r.end()
	r.over()
}

// meets says whether a call is where the blow falls. An error: it is not made any more.
func (r *reign) meets(call string) (when, error) {
	if err := r.gate(); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[call]++
	if r.dead || r.fallen() {
		return "", r.refusal()
	}
	if r.spared || r.moment.call != call || r.calls[call] != r.moment.nth {
		return "", nil
	}
	return r.moment.when, nil
}

// strike lets the blow fall. A paused one returns when it goes on, without an error.
func (r *reign) strike() error {
	r.mu.Lock()
	if !r.fallen() && !r.spared {
		r.house.hit(r.moment)
		close(r.struck)
		if !r.moment.pause {
			r.dead = true
			r.end()
		}
	}
	r.mu.Unlock()
	return r.gate()
}

// gate is what everything passes that the controller does: it is nothing to who lives,
// an error to who is dead, and a wait to who is paused.
func (r *reign) gate() error {
	if r.fallen() && r.moment.pause {
		<-r.late
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusal()
}

func (r *reign) refusal() error {
	if r.dead {
		return errDead
	}
	return nil
}

// do makes a call that is done or not. part does half of it; nil: there is no half.
func (r *reign) do(call string, part, whole func() error) error {
	w, err := r.meets(call)
	if err != nil {
		return err
	}
	switch {
	case w == before, w == within && (part == nil || r.moment.pause):
		if err := r.strike(); err != nil {
			return err
		}
	case w == within:
		return errors.Join(part(), r.strike())
	case w == after:
		err := whole()
		return errors.Join(r.strike(), err)
	}
	return whole()
}

var functionName = regexp.MustCompile(`weir\.workspace_(\w+)`)

// QueryRow is the term of the controller: a statement counts only in its epoch.
func (r *reign) QueryRow(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, into ...any) error {
	name := "holds" // the one that calls no function
	if found := functionName.FindStringSubmatch(sql); found != nil {
		name = found[1]
	}
	return r.do("sql "+name, nil, func() error {
		late := r.house.epoch.Load() != r.epoch
		var both pgx.Batch
		both.Queue(`select weir.fenced($1, $2)`, reignLock, r.epoch)
		both.Queue(sql, args...)
		results := pool.SendBatch(ctx, &both)
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // says the same
			return err
		}
		err := errors.Join(results.QueryRow().Scan(into...), results.Close())
		if err == nil && late {
			r.house.find(ruleReign, "", "epoch %d has written when it was over: %s", r.epoch, name)
		}
		return err
	})
}

// momentCalls are the calls at which a controller can be struck, and when that makes a
// difference.
var momentCalls = func() (all []moment) {
	for call, whens := range map[string][]when{
		"look": {before}, "provision": {before, within, after}, "restore": {before, within, after}, "start": {before, after}, "stop": {before, within, after},
		"archive": {before, within, after}, "remove": {before, within, after},
		"put archive": {before, within, after}, "put meta": {before, within, after}, "get": {before, within}, "list": {before},
		"delete": {before, within, after}, "sql orphans": {before, after}, "sql collected": {before, after},
		"sql see": {before, after}, "sql holds": {after}, "sql begin": {before, after}, "sql archived": {before, after}, "sql end": {before, after},
	} {
		for _, w := range whens {
			all = append(all, moment{call: call, when: w, nth: 1})
		}
	}
	slices.SortFunc(all, func(a, b moment) int {
		return slices.Compare([]string{a.call, string(a.when)}, []string{b.call, string(b.when)})
	})
	return all
}()
