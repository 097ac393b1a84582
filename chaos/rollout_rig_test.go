//go:build unix

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/engine"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	changes "github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/tending"
	"github.com/weirhq/weir/internal/vault"
)

// campaign is several rollouts at once over the same databases, on two servers, with
// random commands.
type campaign struct {
	*run
	size
	rng   *rand.Rand
	keys  vault.Keys
	store *rollout.Store
	// targets are the addresses of the databases, by name.
	targets map[string]string
	names   []string
	plans   map[weir.ID]rollout.Plan
	made    []weir.ID
	// commands counts commands that were carried out, and refusals those that were
	// refused with a reason.
	commands, refusals map[string]int
}

// size is the amount of work: databases × rollouts × changes runs.
type size struct{ databases, rollouts, changes int }

func (s size) runs() int { return s.databases * s.rollouts * s.changes }

// targetSQL is what every database has before its first change: a table in which each
// change leaves a mark, without any key that would forbid a second one, and a function
// that fails now and then.
const targetSQL = `
create table marks (change text not null, kind text not null, began timestamptz not null default transaction_timestamp(), ended timestamptz not null default clock_timestamp());
create function stumble() returns void language plpgsql as $$ begin if random() < 0.1 then raise exception 'stumbled'; end if; end $$;`

func newCampaign(t *testing.T, seed uint64, s size, edits ...edit) *campaign {
	r := newRun(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute+time.Duration(s.runs())*500*time.Millisecond)
	t.Cleanup(cancel)
	r.ctx = ctx
	for _, e := range edits {
		r.apply(e)
	}
	keys, err := vault.LoadKeys(filepath.Join(t.TempDir(), "secret.key"), true)
	if err != nil {
		t.Fatal(err)
	}
	c := &campaign{
		run: r, size: s, rng: rand.New(rand.NewPCG(seed, 0)), keys: keys, targets: map[string]string{}, plans: map[weir.ID]rollout.Plan{},
		commands: map[string]int{}, refusals: map[string]int{},
	}
	c.store = rollout.New(r.pool, rollout.Options{Vault: vault.New(r.pool, keys, nil)})
	c.makeTargets()
	c.makeRollouts()
	c.serve("one")
	c.serve("two")
	return c
}

// makeTargets makes real databases in the cluster of the test, each a copy of one.
func (c *campaign) makeTargets() {
	c.Helper()
	u, err := url.Parse(c.url)
	if err != nil {
		c.Fatal(err)
	}
	own := strings.Replace(strings.TrimPrefix(u.Path, "/"), "weir_test_", "weir_target_", 1)
	create := func(name, template string) string {
		c.exec(`create database ` + pgx.Identifier{name}.Sanitize() + ` template ` + pgx.Identifier{template}.Sanitize() + ` strategy file_copy`)
		c.Cleanup(func() {
			if _, err := c.pool.Exec(context.Background(), `drop database if exists `+pgx.Identifier{name}.Sanitize()+` with (force)`); err != nil {
				c.Error(err)
			}
		})
		at := *u
		at.Path = "/" + name
		return at.String()
	}
	c.in(create(own, "template1"), func(conn *pgx.Conn) error {
		_, err := conn.Exec(c.ctx, targetSQL)
		return err
	})
	for i := range c.databases {
		name := fmt.Sprintf("d%03d", i)
		c.names = append(c.names, name)
		c.targets[name] = create(own+"_"+name, own)
		d, err := c.store.PutDatabase(c.ctx, "ann", rollout.Database{Name: name, Engine: "postgres", Environment: "test"}, c.targets[name])
		if err != nil || d.Fault != "" {
			c.Fatalf("register %s: %s %v", name, d.Fault, err)
		}
	}
}

// in connects to a target without Weir.
func (c *campaign) in(address string, f func(conn *pgx.Conn) error) {
	c.Helper()
	conn, err := pgx.Connect(c.ctx, address)
	if err == nil {
		err = errors.Join(f(conn), conn.Close(c.ctx))
	}
	if err != nil {
		c.Fatal(err)
	}
}

// makeRollouts plans all rollouts. Their versions are interleaved. Every fifth change has
// no version: only the exclusion separates it from others. One in five changes only data,
// and others may run beside it.
func (c *campaign) makeRollouts() {
	c.Helper()
	for i := range c.rollouts {
		p := rollout.Plan{Name: fmt.Sprintf("rollout %d", i), Parallel: 1 + (i+c.rng.IntN(2))%4, OutOfOrder: i%2 == 1}
		for v := range c.changes {
			n := 1 + i + v*c.rollouts
			change := changes.Change{Version: fmt.Sprint(n), Name: fmt.Sprintf("change_%d", n), Kind: changes.DDL, Transaction: true}
			body := fmt.Sprintf("create table t%d (id int);", n)
			switch n % 5 {
			case 0:
				change.Version = ""
			case 1:
				change.Kind, body = changes.Data, ""
			}
			change.SQL = body + fmt.Sprintf("select stumble(); insert into marks (change, kind) values ('%s', '%s');", change.Name, change.Kind)
			change.Checksum = changes.Checksum(change.SQL)
			p.Changes = append(p.Changes, change)
		}
		half := len(c.names) / 2
		p.Stages = []rollout.Stage{{Name: "all", Databases: c.names, OnFailure: rollout.OnFailureContinue}}
		if i%3 == 0 {
			p.Stages = []rollout.Stage{
				{Name: "first", Databases: c.names[:half], OnFailure: rollout.OnFailureContinue, Canary: 1},
				{Name: "second", Databases: c.names[half:], OnFailure: rollout.OnFailureContinue, Promote: rollout.PromoteManual},
			}
		}
		x, err := c.store.Create(c.ctx, "ann", p, "")
		if err != nil {
			c.Fatal(err)
		}
		c.plans[x.ID] = p
		c.made = append(c.made, x.ID)
	}
}

// serve starts what rollouts need of a server: a candidate for the lead with the loops of
// the engine and of rollouts, and an executor with four slots, on its own connections.
func (c *campaign) serve(name string) {
	c.Helper()
	pool, err := pg.Open(c.ctx, c.url, pg.Options{Name: "chaos " + name, MaxConns: 12})
	if err != nil {
		c.Fatal(err)
	}
	client, err := weir.New(pool, nil)
	if err != nil {
		c.Fatal(err)
	}
	store := rollout.New(pool, rollout.Options{Vault: vault.New(pool, c.keys, nil)})
	worker := weir.NewWorker(client, weir.WorkerConfig{Name: name, Concurrency: 4, PollFloor: time.Second, Grace: 5 * time.Second})
	rollout.Handle(worker, rollout.ExecutorConfig{Store: store, Concurrency: 4})
	hints := listen.New(pool.Config().ConnConfig, nil)
	gates, lost := hints.Listen(tending.GatesChannel), hints.Listen(rollout.Channel)
	leader := coordinator.New(coordinator.Config{Pool: pool, Holder: name, Loops: func(term *coordinator.Term) []loop.Loop {
		return append(engine.Loops(engine.Config{Pool: pool, Gates: gates}, term), rollout.Loops(rollout.Config{Pool: pool, Store: store, Hints: lost.C()}, term)...)
	}})
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() { _ = hints.Run(ctx) }) // its error is that we end
	parts.Go(func() { leader.Run(ctx) })
	parts.Go(func() {
		if err := worker.Run(ctx); err != nil {
			c.Errorf("executor %s: %v", name, err)
		}
	})
	c.silent[name] = true
	c.Cleanup(func() {
		stop()
		parts.Wait()
		client.Close()
		pool.Close()
	})
}

// command gives a command and counts it. A refusal is an answer; any other error is a
// failure.
func (c *campaign) command(name string, give func() (rollout.Answer, error)) {
	c.Helper()
	_, err := give()
	switch {
	case err == nil:
		c.commands[name]++
	case slices.Contains([]problem.Kind{problem.Conflict, problem.Invalid, problem.NotFound}, problem.Explain(err).Kind):
		c.refusals[name]++
	default:
		c.Errorf("%s: %v", name, err)
	}
}

// tasks returns those of all rollouts.
func (c *campaign) tasks() (all []rollout.Task) {
	c.Helper()
	for _, id := range c.made {
		list, err := tasksOf(c.ctx, c.store, id)
		if err != nil {
			c.Fatal(err)
		}
		all = append(all, list...)
	}
	return all
}

// tasksOf reads all tasks of a rollout, page by page.
func tasksOf(ctx context.Context, store *rollout.Store, id weir.ID) ([]rollout.Task, error) {
	local := op.Local{Stores: []any{store}, Who: func(context.Context) auth.Subject { return auth.System("chaos") }}
	return op.Each(ctx, local, rollout.ListTasks, rollout.ListingTasks{Named: rollout.Named{Rollout: id.String()}})
}
