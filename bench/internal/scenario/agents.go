package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weirhq/weir/bench/internal/hall"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/workspaces"
	"github.com/weirhq/weir/internal/loop"
)

const (
	agentsDatabase = "weir_bench_agents"
	// agentDevices is fixed by the goal; the number of agents is scaled, and so is the
	// time. BENCH_AGENTS and BENCH_AGENTS_FOR set them.
	agentsMany, agentDevices = 20, 20
	agentsFor                = time.Minute
	// agentsWarm is how long the hall works before it is measured: all its statements are
	// planned, and its runs no longer end in step.
	agentsWarm = 15 * time.Second
	// agentShortest and agentLongest are how long a run takes.
	agentShortest, agentLongest = 20 * time.Second, 60 * time.Second
)

// agents measures what a run costs with a server and real agents, each a process.
func agents(ctx context.Context, b *Bench, _ time.Duration) (err error) {
	size := hall.Size{Agents: max(int(agentsMany*min(b.Scale, 1)), 2), Devices: agentDevices, Shortest: agentShortest, Longest: agentLongest}
	length := max(time.Duration(float64(agentsFor)*min(b.Scale, 1)), 5*time.Second)
	if text := b.Getenv("BENCH_AGENTS"); text != "" {
		if _, err := fmt.Sscan(text, &size.Agents); err != nil || size.Agents < 1 {
			return fmt.Errorf("BENCH_AGENTS is %q: give a number of processes, such as 100", text)
		}
	}
	if text := b.Getenv("BENCH_AGENTS_FOR"); text != "" {
		if length, err = time.ParseDuration(text); err != nil || length <= 0 {
			return fmt.Errorf("BENCH_AGENTS_FOR is %q: give a time, such as 5m", text)
		}
	}
	folder, err := os.MkdirTemp("", "weir-bench-agents-")
	if err != nil {
		return fmt.Errorf("create a folder for agents: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program, err := workspaces.Program(ctx, b.Getenv("BENCH_WEIR"), folder)
	if err != nil {
		return err
	}
	if err := b.Server.CreateDatabase(ctx, agentsDatabase); err != nil {
		return err
	}
	h, err := hall.Open(ctx, program, b.Server.URL(agentsDatabase), folder, size, agentsWarm+length)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if !loop.Wait(ctx, agentsWarm, nil) {
		return ctx.Err()
	}
	spent, err := h.Measure(ctx, b.Meter, length)
	if err != nil {
		return err
	}
	b.showAgents(size, spent)
	return nil
}

func (b *Bench) showAgents(size hall.Size, s hall.Spent) {
	for name, value := range map[string]float64{
		"runs": float64(s.Runs), "lost": float64(s.Lost), "transactions_per_run": s.Per(s.Transactions), "events_per_run": s.Per(s.Events), "rows_per_run": s.Per(s.Rows),
		"wal_per_run": s.Per(s.WAL), "cpu_ms_per_run": s.PerMS(s.CPU()), "server_ms_per_run": s.PerMS(s.Server), "agents_ms_per_run": s.PerMS(s.Agents), "postgres_ms_per_run": s.PerMS(s.Postgres),
	} {
		b.Report.Figure("agents.weir."+name, value)
	}
	b.Report.Show(b.Out, report.Section{
		Scenario: "agents",
		Title: fmt.Sprintf("%d agents with %d devices each, each agent a process, runs of %s to %s, for %s",
			size.Agents, size.Devices, size.Shortest, size.Longest, s.Elapsed.Round(time.Second)),
		Header: []string{"runs", "lost", "running at the end", "transactions/run", "events/run", "rows/run", "WAL B/run", "CPU ms/run", "server", "agents", "PostgreSQL"},
		Rows: [][]string{{
			count(int(s.Runs)), count(int(s.Lost)), count(int(s.Running)), report.Number(s.Per(s.Transactions), 1), report.Number(s.Per(s.Events), 1), report.Number(s.Per(s.Rows), 1),
			report.Number(s.Per(s.WAL), 0), report.Number(s.PerMS(s.CPU()), 1), report.Number(s.PerMS(s.Server), 1), report.Number(s.PerMS(s.Agents), 1), report.Number(s.PerMS(s.Postgres), 1),
		}},
		Notes: []string{"everything counts: claims, starts, progress, logs, renewals, heartbeats, reports of devices, the leader", "lost: failed attempts, leases that ran out, reports that were refused"},
	})
	table := report.Section{Scenario: "agents", Title: "The statements behind it", Header: []string{"statement", "calls/run", "PG ms/run"}}
	for _, x := range s.Statements {
		table.Rows = append(table.Rows, []string{x.Text, report.Number(s.Per(x.Calls), 2), report.Number(x.Took/float64(max(s.Runs, 1)), 2)})
	}
	b.Report.Show(b.Out, table)
}
