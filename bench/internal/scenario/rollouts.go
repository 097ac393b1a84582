package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/rollouts"
	"github.com/weirhq/weir/bench/internal/stats"
	"github.com/weirhq/weir/internal/pg"
	ours "github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/schema"
)

const (
	rolloutsDatabase   = "weir_bench_rollouts"
	rolloutsMigrations = 100
	rolloutsRounds     = 5
	// promotions is how many stages are promoted, one after the other.
	promotions = 200
	// waitingDatabases × waitingChanges runs wait: the goal fixes these numbers.
	waitingDatabases, waitingChanges = 100, 100
)

// Migrated are all rounds of one tool. Milliseconds.
type Migrated struct {
	Scenario string    `json:"scenario"`
	Tool     string    `json:"tool"`
	Size     int       `json:"size"`
	Took     []float64 `json:"took_ms"`
	WAL      []float64 `json:"wal_bytes"`
}

// migrations applies the same migrations to fresh databases with every tool, then
// measures what only Weir has, and ends with the crashes.
func migrations(ctx context.Context, b *Bench, budget time.Duration) (err error) {
	machine, err := b.probe(ctx)
	if err != nil {
		return err
	}
	if err := b.Server.CreateDatabase(ctx, rolloutsDatabase); err != nil {
		return err
	}
	side, err := rollouts.Open(ctx, b.Server.URL(rolloutsDatabase))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, side.Close()) }()
	if err := b.sideBySide(ctx, side, budget); err != nil {
		return err
	}
	if err := b.promote(ctx, side); err != nil {
		return err
	}
	if err := b.waiting(ctx); err != nil {
		return err
	}
	if err := b.crash(ctx); err != nil {
		return err
	}
	b.showProbe(machine)
	return nil
}

// fresh makes an empty database for one round.
func (b *Bench) fresh(ctx context.Context, n int) (name, url string, err error) {
	name = fmt.Sprintf("weir_bench_target_%d", n)
	return name, b.Server.URL(name), b.Server.CreateDatabase(ctx, name)
}

func (b *Bench) sideBySide(ctx context.Context, side *rollouts.Side, budget time.Duration) (err error) {
	list := rollouts.Mix(max(int(rolloutsMigrations*min(b.Scale, 1)), 8))
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := rollouts.Write(dir, list); err != nil {
		return err
	}
	tools := []string{rollouts.Bare, rollouts.Goose, rollouts.Migrate, rollouts.Target, rollouts.Weir}
	found := map[string]*Migrated{}
	n := 0
	for round, end := 0, time.Now().Add(budget); round < rolloutsRounds && (round == 0 || time.Now().Before(end)); round++ {
		// The order rotates because the first tool finds other caches than the last.
		for i := range tools {
			tool := tools[(i+round)%len(tools)]
			name, url, err := b.fresh(ctx, n)
			if err != nil {
				return err
			}
			n++
			if found[tool] == nil {
				found[tool] = &Migrated{Scenario: "rollouts", Tool: tool, Size: len(list)}
			}
			before, err := b.Meter.Read(ctx)
			if err != nil {
				return err
			}
			if tool == rollouts.Weir {
				_, err = side.Rollout(ctx, name, url, list)
			} else {
				err = rollouts.Once(ctx, tool, url, dir, list)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", tool, err)
			}
			after, err := b.Meter.Read(ctx)
			if err != nil {
				return err
			}
			if err := rollouts.Check(ctx, url, list); err != nil {
				return fmt.Errorf("%s: %w", tool, err)
			}
			cost := after.Since(before)
			found[tool].Took = append(found[tool].Took, milliseconds(cost.Elapsed))
			found[tool].WAL = append(found[tool].WAL, float64(cost.WAL))
		}
	}
	b.showMigrated(tools, found)
	return nil
}

func (b *Bench) showMigrated(tools []string, found map[string]*Migrated) {
	size := found[tools[0]].Size
	bare := stats.Median(found[rollouts.Bare].Took)
	table := report.Section{
		Scenario: "rollouts", Title: fmt.Sprintf("The same %d migrations, one after the other, in a fresh database: from the call to the last commit", size),
		Header: []string{"tool", "ms median", "best ms", "ms each", "overhead ms each", "WAL kB each", "rounds"},
		Notes:  []string{"overhead: beyond the same statements by pgx on one connection; weir, rollout has registering, planning and its own database in it"},
	}
	for _, tool := range tools {
		f := found[tool]
		b.Report.Rounds = append(b.Report.Rounds, f)
		middle := stats.Median(f.Took)
		b.Report.Figure("rollouts."+tool+".each_ms", middle/float64(size))
		b.Report.Figure("rollouts."+tool+".overhead_ms", (middle-bare)/float64(size))
		table.Rows = append(table.Rows, []string{
			tool, report.Number(middle, 0), report.Number(least(f.Took), 0), report.Number(middle/float64(size), 2),
			report.Number((middle-bare)/float64(size), 2), report.Number(stats.Median(f.WAL)/1024/float64(size), 1), count(len(f.Took)),
		})
	}
	b.Report.Show(b.Out, table)
}

func (b *Bench) promote(ctx context.Context, side *rollouts.Side) error {
	_, first, err := b.fresh(ctx, 1001)
	if err != nil {
		return err
	}
	_, second, err := b.fresh(ctx, 1002)
	if err != nil {
		return err
	}
	n := max(int(promotions*min(b.Scale, 1)), 5)
	found, err := side.Promote(ctx, n, first, second)
	if err != nil {
		return err
	}
	table := report.Section{
		Scenario: "promote", Title: fmt.Sprintf("Promote to start, %d promotions on an idle server: from the call of promote", n),
		Header: []string{"until", "p50 ms", "p99 ms", "max ms"},
	}
	for _, row := range []struct {
		what, figure string
		list         []float64
	}{{"promote has returned", "returned", found.Returned}, {"the run is claimed", "claimed", found.Claimed}, {"its first statement runs in the database", "executed", found.Executed}} {
		b.Report.Figure("promote.weir."+row.figure+"_p50_ms", stats.Percentile(row.list, 50))
		b.Report.Figure("promote.weir."+row.figure+"_p99_ms", stats.Percentile(row.list, 99))
		table.Rows = append(table.Rows, []string{row.what, report.Number(stats.Percentile(row.list, 50), 1), report.Number(stats.Percentile(row.list, 99), 1), report.Number(stats.Max(row.list), 1)})
	}
	b.Report.Show(b.Out, table)
	return nil
}

func (b *Bench) waiting(ctx context.Context) error {
	const name = rolloutsDatabase + "_waiting"
	if err := b.Server.CreateDatabase(ctx, name); err != nil {
		return err
	}
	url := b.Server.URL(name)
	if _, err := pg.Migrate(ctx, url, schema.FS); err != nil {
		return fmt.Errorf("migrate Weir: %w", err)
	}
	pool, err := pg.Open(ctx, url, pg.Options{Name: "bench waiting"})
	if err != nil {
		return err
	}
	defer pool.Close()
	pending, took, written, err := rollouts.Waiting(ctx, url, ours.New(pool, ours.Options{}), waitingDatabases, waitingChanges, passes)
	if err != nil {
		return err
	}
	b.Report.Figure("waiting.weir.rows_written", float64(written))
	b.Report.Figure("waiting.weir.pass_ms", stats.Median(took))
	b.Report.Show(b.Out, report.Section{
		Scenario: "waiting", Title: fmt.Sprintf("%s pending runs, nothing to open: a pass of the leader", count(pending)),
		Header: []string{"system", "pass ms median", "max ms", "rows written", "passes"},
		Rows:   [][]string{{"weir", report.Number(stats.Median(took), 2), report.Number(stats.Max(took), 2), report.Number(float64(written), 0), count(len(took))}},
	})
	return nil
}

// crash kills every tool at every point and shows the observations.
func (b *Bench) crash(ctx context.Context) error {
	table := report.Section{
		Scenario: "crash", Title: "Killed with SIGKILL in the middle, then run again",
		Header: []string{"killed", "tool", "left behind", "run again", "then"},
	}
	for i, point := range rollouts.Points {
		for k, tool := range []string{rollouts.Goose, rollouts.Migrate, rollouts.Target} {
			_, url, err := b.fresh(ctx, 2000+10*i+k)
			if err != nil {
				return err
			}
			seen, err := rollouts.Crash(ctx, tool, point, url)
			if err != nil {
				return err
			}
			b.Report.Rounds = append(b.Report.Rounds, seen)
			table.Rows = append(table.Rows, []string{seen.Point, seen.Tool, seen.Left, seen.Again, seen.After})
		}
	}
	b.Report.Show(b.Out, table)
	return nil
}
