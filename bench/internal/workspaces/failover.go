package workspaces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/process"
)

// post configures the process of a controller.
type post struct {
	DatabaseURL string `json:"database_url"`
	Dir         string `json:"dir"`
	Program     string `json:"program"`
	// Term is how long a leader may be silent.
	Term time.Duration `json:"term"`
}

// control leads when it may, with the settings of a server, until its input ends.
func control(ctx context.Context, spec json.RawMessage, in io.Reader, out io.Writer) error {
	var p post
	if err := json.Unmarshal(spec, &p); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, in) // until the benchmark is done or dead
		stop()
	}()
	pool, err := pg.Open(ctx, p.DatabaseURL, pg.Options{Name: "bench controller"})
	if err != nil {
		return err
	}
	defer pool.Close()
	terms, err := pg.Open(ctx, p.DatabaseURL, pg.Options{Name: "bench leader", MaxConns: 2})
	if err != nil {
		return err
	}
	defer terms.Close()
	bucket, err := blob.Open(ctx, "folder://"+filepath.Join(p.Dir, "bucket"))
	if err != nil {
		return err
	}
	hints := listen.New(pool.Config().ConnConfig, nil)
	wanted, resigned := hints.Listen(workspace.Channel), hints.Listen(coordinator.Channel)
	go func() { _ = hints.Run(ctx) }() // until ctx ends
	if err := json.NewEncoder(out).Encode(os.Getpid()); err != nil {
		return err
	}
	coordinator.New(coordinator.Config{Pool: terms, TTL: p.Term, Wake: resigned.C(), Loops: func(t *coordinator.Term) []loop.Loop {
		return workspace.Loops(workspace.Config{
			Pool: pool, Bucket: bucket, Wake: wanted.C(),
			Providers: []provider.Provider{process.New(process.Config{Dir: filepath.Join(p.Dir, "homes"), Program: p.Program, Args: []string{inside, "serve"}})},
		}, t)
	}}).Run(ctx)
	return blob.Close(bucket)
}

// Reign is two controllers on one database, and workspaces that they run.
type Reign struct {
	base *Base
	post post
	ids  []weir.ID
	// leader and heir are the processes.
	leader, heir *child
}

// OpenReign starts a controller, makes n workspaces, and starts another controller.
func OpenReign(ctx context.Context, b *Base, program, folder string, n int, term time.Duration) (r *Reign, err error) {
	r = &Reign{base: b, post: post{DatabaseURL: b.URL, Dir: folder, Program: program, Term: term}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close(context.WithoutCancel(ctx)))
		}
	}()
	many := max(n, 100)
	if _, err := b.Store.SetPolicy(ctx, "bench", workspace.PolicyChange{PerUser: &many, InAll: &many}); err != nil {
		return r, err
	}
	if r.leader, err = r.start(); err != nil {
		return r, err
	}
	for i := range n {
		id, _, err := b.Store.Create(ctx, "bench", workspace.Draft{Owner: b.Owner, Name: fmt.Sprintf("reign-%d", i), Provider: "process", Desired: ladder.Standby})
		if err != nil {
			return r, err
		}
		r.ids = append(r.ids, id)
	}
	if err := r.converge(ctx); err != nil {
		return r, err
	}
	r.heir, err = r.start()
	return r, err
}

func (r *Reign) start() (*child, error) {
	c, err := startPart("controller", r.post)
	if err != nil {
		return nil, err
	}
	var pid int
	return c, c.hear(&pid)
}

// Close removes the workspaces, and ends the controllers.
func (r *Reign) Close(ctx context.Context) (err error) {
	if r.leader != nil && len(r.ids) > 0 {
		if err = r.want(ctx, ladder.Deleted); err == nil {
			err = flow.Poll(ctx, askEvery, r.asks(`select coalesce(bool_and(w.phase = 'DELETED'), true) from weir.workspaces w where w.id = any ($1)`))
		}
	}
	for _, c := range []*child{r.leader, r.heir} {
		if c != nil {
			err = errors.Join(err, c.stop())
		}
	}
	return err
}

func (r *Reign) want(ctx context.Context, phase ladder.Phase) error {
	for _, id := range r.ids {
		if _, err := r.base.Store.Want(ctx, id, phase, "bench", ""); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reign) asks(sql string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (is bool, err error) {
		err = r.base.Pool.QueryRow(ctx, sql, r.ids).Scan(&is)
		return is, err
	}
}

// converge waits until everything is as wanted.
func (r *Reign) converge(ctx context.Context) error {
	return flow.Poll(ctx, askEvery, r.asks(`select bool_and(w.phase = w.desired and w.operation = 'NONE') from weir.workspaces w where w.id = any ($1)`))
}

// Fallen is a change of leaders, in seconds from the moment at which the first was
// struck.
type Fallen struct {
	// Led is when the other leads, On when it has written something about a workspace,
	// and All when everything is as wanted.
	Led float64 `json:"led_s"`
	On  float64 `json:"on_s"`
	All float64 `json:"all_s"`
	// Under are the operations that were under way then, Twice those that began twice,
	// Failed the tries that failed.
	Under, Twice, Failed int
}

// Fall wants a phase of all workspaces, strikes the leader when half of the operations
// have begun, and measures how the other continues. A new standby is started afterwards.
func (r *Reign) Fall(ctx context.Context, phase ladder.Phase, blow os.Signal) (f Fallen, err error) {
	begun := time.Now()
	if err := r.want(ctx, phase); err != nil {
		return f, err
	}
	if err := flow.Poll(ctx, time.Millisecond, r.asks(`select count(*) filter (where w.operation <> 'NONE' or w.phase = w.desired) * 2 >= count(*) from weir.workspaces w where w.id = any ($1)`)); err != nil {
		return f, fmt.Errorf("wait for operations: %w", err)
	}
	if err := r.base.Pool.QueryRow(ctx, `select count(*) from weir.workspaces w where w.id = any ($1) and w.operation <> 'NONE'`, r.ids).Scan(&f.Under); err != nil {
		return f, err
	}
	struck := time.Now()
	if err := r.leader.Process.Signal(blow); err != nil {
		return f, err
	}
	_ = r.leader.stop() // killed, perhaps
	r.leader, r.heir = r.heir, nil
	var led time.Time
	err = flow.Poll(ctx, time.Millisecond, func(ctx context.Context) (over bool, err error) {
		err = r.base.Pool.QueryRow(ctx, `select l.acquired_at, l.acquired_at > $2 and l.expires_at > clock_timestamp() from weir.system_locks l where l.lock_name = $1`, coordinator.Lock, struck).Scan(&led, &over)
		return over, err
	})
	if err == nil {
		err = r.converge(ctx)
	}
	if err != nil {
		return f, fmt.Errorf("the other does not go on: %w", err)
	}
	f.All, f.Led = time.Since(struck).Seconds(), led.Sub(struck).Seconds()
	var on time.Time
	err = r.base.Pool.QueryRow(ctx, `select min(e.at) filter (where e.at >= $2), count(*) filter (where e.type = 'began') - count(distinct (e.subject, e.message)) filter (where e.type = 'began'),
		count(*) filter (where e.type = 'failed') from weir.events e where e.kind = 'workspace' and e.at >= $1`, begun, led).Scan(&on, &f.Twice, &f.Failed)
	if err != nil {
		return f, fmt.Errorf("read what happened: %w", err)
	}
	f.On = on.Sub(struck).Seconds()
	r.heir, err = r.start()
	return f, err
}
