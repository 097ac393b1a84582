package scenario

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/queue"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/server"
)

// System is one queue in its own database.
type System struct {
	queue.Queue
	Database string
	// Admin is a connection to that database for the benchmark's own use.
	Admin *pgx.Conn
}

// Bench is what every scenario works with.
type Bench struct {
	Server *server.Server
	Meter  *meter.Meter
	Report *report.Report
	Out    io.Writer
	// Systems take turns in every scenario.
	Systems []*System
	// Floor is used only in the scenario of its name.
	Floor *System
	// Scale multiplies every size, Quick shortens the run to the first scenario.
	Scale float64
	Quick bool
	// Temporal says where to find that peer: see temporal.Find, which uses Getenv.
	Temporal string
	Getenv   func(string) string
	// Only is the requested name; empty means all.
	Only string
	// Docker says where workspaces find an engine: see openDocker.
	Docker string
	// HomeMB is the size of the larger archived home.
	HomeMB int
}

// Scenario is one question and how it is answered.
type Scenario struct {
	// Names are the tables it prints; -only takes any of them.
	Names []string
	// Budget bounds the time: no new pair of rounds starts after it. The first pair
	// always runs.
	Budget time.Duration
	// Long means that it takes far longer than all others: it runs only when it is
	// requested.
	Long bool
	Run  func(ctx context.Context, b *Bench, budget time.Duration) error
}

// All are the scenarios in the order they run. The first is the whole of a
// quick run.
var All = []Scenario{
	{Names: []string{"queue2000"}, Budget: 45 * time.Second, Run: queue2000},
	{Names: []string{"queue100", "held"}, Budget: 35 * time.Second, Run: queue100},
	{Names: []string{"continuous"}, Budget: 12 * time.Second, Run: continuous},
	{Names: []string{"latency"}, Budget: 15 * time.Second, Run: latency},
	{Names: []string{"history"}, Budget: 20 * time.Second, Run: history},
	{Names: []string{"gates"}, Budget: 12 * time.Second, Run: gates},
	{Names: []string{"pass"}, Run: pass},
	{Names: []string{"pool"}, Run: pool},
	{Names: []string{"idle"}, Run: idle},
	{Names: []string{"streams"}, Run: watch},
	{Names: []string{"workflows", "burst", "due", "machine"}, Budget: 40 * time.Second, Run: workflows},
	{Names: []string{"rollouts", "promote", "waiting", "crash"}, Budget: 30 * time.Second, Run: migrations},
	{Names: []string{"fleets", "turns", "rest"}, Run: fleet},
	{Names: []string{"agents"}, Run: agents},
	{Names: []string{"workspaces", "wake", "proxy", "homes", "looks", "failover"}, Run: houses},
	{Names: []string{"floor"}, Budget: 8 * time.Second, Run: floor},
	{Names: []string{"pages", "served"}, Run: measurePages, Long: true},
}

// size scales a number of jobs; it always leaves enough to measure.
func (b *Bench) size(n int) int {
	return max(int(float64(n)*b.Scale), 100)
}

// skip reports that no system here supports the scenario.
func (b *Bench) skip(name, title, why string) {
	b.Report.Show(b.Out, report.Section{Scenario: name, Title: title, Notes: []string{"not measured: " + why}})
}

// count writes a number of jobs for a title.
func count(n int) string { return report.Number(float64(n), 0) }

// takeTurns runs one round of each system in turn, at most rounds times, and
// starts no new turn once the budget is spent.
func takeTurns(ctx context.Context, systems []*System, rounds int, budget time.Duration, run func(s *System, round int) error) error {
	start := time.Now()
	for round := range rounds {
		if round > 0 && time.Since(start) > budget {
			return nil
		}
		for _, s := range systems {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := run(s, round); err != nil {
				return fmt.Errorf("%s: %w", s.Name(), err)
			}
		}
	}
	return nil
}

// prepare brings the database to the same state before each round.
func (s *System) prepare(ctx context.Context) error {
	for _, statement := range []string{"vacuum (analyze)", "checkpoint"} {
		if _, err := s.Admin.Exec(ctx, statement); err != nil {
			return fmt.Errorf("prepare a round: %s: %w", statement, err)
		}
	}
	return nil
}
