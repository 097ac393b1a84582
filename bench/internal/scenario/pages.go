package scenario

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/pages"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/stats"
)

const (
	// pagesJobs and pagesLive are the sizes of the goal, at scale 1: ten tasks for each
	// job, and the number of tasks that have not ended.
	pagesJobs = 1_000_000
	pagesLive = 50_000
	// pagesAsks is how often each question is asked at scale 1, after it was asked
	// askedBefore times, because a new connection has made no plans yet.
	pagesAsks, askedBefore = 20, 2
	// doctorMost is the number of jobs up to which the doctor checks what was written,
	// because it reads everything that has ended, which takes minutes at scale 1. Larger
	// histories differ only in their amount.
	doctorMost = 20_000
)

// measurePages measures the queries of the dashboard's pages and of the API's lists on a
// database with a long history.
func measurePages(ctx context.Context, b *Bench, _ time.Duration) error {
	size := pages.Size{Jobs: max(b.size(pagesJobs)/200*200, 1000), Live: max(b.size(pagesLive), 1000)}
	const database = "weir_bench_pages"
	if err := b.Server.CreateDatabase(ctx, database); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, b.Server.URL(database))
	if err != nil {
		return err
	}
	defer pool.Close()
	start := time.Now()
	if err := pages.Fill(ctx, pool, size); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	filled := time.Since(start)
	if size.Jobs <= doctorMost {
		if err := healthy(ctx, pool); err != nil {
			return err
		}
	}
	table := report.Section{
		Scenario: "pages",
		Title:    fmt.Sprintf("Pages over %s jobs and %s tasks, %s tasks not ended", count(size.Jobs), count(size.Jobs*pages.TasksPerJob), count(size.Live)),
		Header:   []string{"page", "question", "p50 ms", "p95 ms", "max ms", "server CPU ms"},
		Notes: []string{fmt.Sprintf("history written in %.0f s; each question asked %d times, of other things each time, on one connection; server CPU is the median, only where the server is on this machine",
			filled.Seconds(), b.asks())},
	}
	if table.Rows, err = b.askAll(ctx, database); err != nil {
		return err
	}
	b.Report.Figure("pages.weir.fill_s", filled.Seconds())
	b.Report.Show(b.Out, table)
	return b.servePages(ctx, pool)
}

// servePages requests every page of the dashboard and the lists of the API over HTTP, and
// measures the time that the server needs for each.
func (b *Bench) servePages(ctx context.Context, pool *pgxpool.Pool) error {
	site, err := pages.Open(ctx, pool)
	if err != nil {
		return fmt.Errorf("open the site: %w", err)
	}
	defer site.Close()
	paths, err := pages.Paths(ctx, pool)
	if err != nil {
		return fmt.Errorf("prepare the pages: %w", err)
	}
	table := report.Section{
		Scenario: "served", Title: "Pages over HTTP, server time",
		Header: []string{"page", "path", "p50 ms", "p95 ms", "max ms", "kB"},
		Notes:  []string{fmt.Sprintf("each asked for %d times, of other things each time, one after another; from the request to the last byte written", b.asks())},
	}
	worst := 0.0
	for _, p := range paths {
		var took, sizes []float64
		for i := range b.asks() + askedBefore {
			d, size, err := site.Get(ctx, p.At(i))
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			if i >= askedBefore {
				took, sizes = append(took, milliseconds(d)), append(sizes, float64(size)/1000)
			}
		}
		p95 := stats.Percentile(took, 95)
		worst = max(worst, p95)
		table.Rows = append(table.Rows, []string{
			p.Page, p.Name, report.Number(stats.Median(took), 1), report.Number(p95, 1), report.Number(stats.Max(took), 1), report.Number(stats.Median(sizes), 0),
		})
	}
	b.Report.Figure("served.weir.worst_p95_ms", worst)
	b.Report.Figure("served.weir.pages", float64(len(paths)))
	b.Report.Show(b.Out, table)
	fmt.Fprintf(b.Out, "pages: worst p95 = %s ms (goal 200)\n", report.Number(worst, 0))
	return nil
}

// healthy refuses a history that the engine could not have written.
func healthy(ctx context.Context, pool *pgxpool.Pool) error {
	rows, err := pool.Query(ctx, `select d.name || ': ' || coalesce(d.detail, '') from weir.doctor(true) d where not d.ok and d.level = 'invariant'`)
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	broken, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	if len(broken) > 0 {
		return fmt.Errorf("the history breaks invariants: %q", broken)
	}
	return nil
}

// askAll asks every question on its own connection and returns the rows of the table.
func (b *Bench) askAll(ctx context.Context, database string) (rows [][]string, err error) {
	config, err := pgxpool.ParseConfig(b.Server.URL(database))
	if err != nil {
		return nil, err
	}
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	questions, err := pages.Questions(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("prepare the questions: %w", err)
	}
	var pid int
	if err := pool.QueryRow(ctx, `select pg_backend_pid()`).Scan(&pid); err != nil {
		return nil, err
	}
	worst := 0.0
	for _, q := range questions {
		took, cpu, err := b.ask(ctx, q, pid)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", q.Page, q.Name, err)
		}
		p95 := stats.Percentile(took, 95)
		worst = max(worst, p95)
		rows = append(rows, []string{
			q.Page, q.Name, report.Number(stats.Median(took), 1), report.Number(p95, 1), report.Number(stats.Max(took), 1), report.Number(stats.Median(cpu), 1),
		})
	}
	b.Report.Figure("pages.weir.worst_p95_ms", worst)
	b.Report.Figure("pages.weir.questions", float64(len(questions)))
	return rows, nil
}

// asks is how often each question is asked.
func (b *Bench) asks() int { return min(max(int(pagesAsks*b.Scale), 3), pagesAsks) }

// ask returns how many milliseconds each answer took, and for how many of these the
// server's process used the CPU.
func (b *Bench) ask(ctx context.Context, q pages.Question, pid int) (took, cpu []float64, err error) {
	for i := range b.asks() + askedBefore {
		before := math.NaN()
		if b.Server.Private() {
			before = meter.ProcessMilliseconds(pid)
		}
		start := time.Now()
		if err := q.Ask(ctx, i); err != nil {
			return nil, nil, err
		}
		if i >= askedBefore {
			took = append(took, milliseconds(time.Since(start)))
			cpu = append(cpu, meter.ProcessMilliseconds(pid)-before)
		}
	}
	return took, cpu, nil
}
