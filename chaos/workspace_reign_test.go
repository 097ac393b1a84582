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

// when says when a blow falls on a call.
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
	// pause means that the controller is stopped there and continues late, when another
	// has led for a while. Otherwise it is dead.
	pause bool
	// still means that the controller has not learned that its term is over when it
	// continues.
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
	// pool is its own, like that of a process: it dies with connections in use.
	pool *pgxpool.Pool
	// work, ttl and collect are the repeated actions of the controller, and group is what
	// it has started.
	work, ttl, collect loop.Tick
	group              sync.WaitGroup

	mu    sync.Mutex
	calls map[string]int
	dead  bool
	// spared means that no blow falls anymore.
	spared bool
	onward sync.Once
	// struck is closed when the blow falls; a paused controller continues when late is
	// closed.
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

// Go runs an action of the controller until its term is over.
func (r *reign) Go(f func(context.Context)) { r.group.Go(func() { f(r.ctx) }) }

const reignLock = "chaos"

// tick runs an action of the controller once. It returns when the action is done,
// together with what it started if wait is true; or when the blow has fallen and paused
// the controller.
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

// fallen reports whether the blow has fallen.
func (r *reign) fallen() bool {
	select {
	case <-r.struck:
		return true
	default:
		return false
	}
}

// goOn lets a paused controller continue.
func (r *reign) goOn() {
	r.onward.Do(func() {
		if r.fallen() && !r.moment.still {
			r.end()
		}
		close(r.late)
	})
}

// over ends the reign when its actions are done. No blow falls anymore.
func (r *reign) over() {
	r.mu.Lock()
	r.spared = true
	r.mu.Unlock()
	r.goOn()
	r.group.Wait()
	r.end()
	r.pool.Close()
}

// dies kills the controller, wherever it is.
func (r *reign) dies() {
	r.mu.Lock()
	r.dead = true
	r.mu.Unlock()
	r.end()
	r.over()
}

// meets returns when the blow falls on a call, if it does. An error means that the call
// is not made anymore.
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

// strike lets the blow fall. For a paused controller it returns without an error when the
// controller continues.
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

// gate is passed by every call of the controller: it returns nil for a live one, an error
// for a dead one, and waits for a paused one.
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

// do makes a call that is done or not. part does half of it; nil means that there is no
// half.
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
			_ = results.Close() // it returns the same error
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
