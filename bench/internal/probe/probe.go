package probe

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/bench/internal/stats"
)

const (
	// processes is how many are started; fibonacci is the number that published
	// comparisons of workflow engines compute as a long step.
	processes = 200
	fibonacci = 33
	counts    = 3
)

// Machine is the result in milliseconds, as medians.
type Machine struct {
	// Commit is one row inserted and committed with fsync, and CommitP99 is the 99th
	// percentile.
	Commit    float64 `json:"commit_ms"`
	CommitP99 float64 `json:"commit_p99_ms"`
	Commits   int     `json:"commits"`
	// Process is a program started and waited for.
	Process float64 `json:"process_ms"`
	// Fibonacci is the naive computation of the 33rd number.
	Fibonacci float64 `json:"fibonacci33_ms"`
}

// Measure probes the machine, and the PostgreSQL behind a connection.
func Measure(ctx context.Context, conn *pgx.Conn, commits int) (m Machine, err error) {
	m.Commits = commits
	if _, err := conn.Exec(ctx, `create table if not exists probe (n int)`); err != nil {
		return m, fmt.Errorf("probe the commits: %w", err)
	}
	took, err := times(commits, func() error {
		_, err := conn.Exec(ctx, `insert into probe values (1)`)
		return err
	})
	if err != nil {
		return m, fmt.Errorf("probe the commits: %w", err)
	}
	m.Commit, m.CommitP99 = stats.Median(took), stats.Percentile(took, 99)
	if _, err := conn.Exec(ctx, `drop table probe`); err != nil {
		return m, fmt.Errorf("probe the commits: %w", err)
	}
	if took, err = times(min(processes, commits), func() error { return exec.CommandContext(ctx, flow.Program).Run() }); err != nil {
		return m, fmt.Errorf("probe the processes: %w", err)
	}
	m.Process = stats.Median(took)
	sum := 0
	if took, err = times(counts, func() error { sum += fib(fibonacci); return nil }); err != nil || sum == 0 {
		return m, err
	}
	m.Fibonacci = stats.Median(took)
	return m, nil
}

// times calls f and returns the milliseconds of each call.
func times(n int, f func() error) ([]float64, error) {
	took := make([]float64, n)
	for i := range took {
		start := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		took[i] = float64(time.Since(start).Nanoseconds()) / 1e6
	}
	return took, nil
}

func fib(n int) int {
	if n <= 1 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
