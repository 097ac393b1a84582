// Command mutate takes one guard after the other out of Weir and demands that the
// test of its row fails (package internal/mutate has the table):
//
//	go run ./internal/testdb/serve -- go run ./scripts/mutate
//	go run ./internal/testdb/serve -- go run ./scripts/mutate -run 'claim' -jobs 1
//
// It prints a line per row and at the end how many were killed and how many
// survived, and exits 1 unless all were killed. With -find it says which tests
// of a row's package fail: so a new row gets its test.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/mutate"
	"github.com/weirhq/weir/internal/pattern"
	"github.com/weirhq/weir/internal/testdb"
)

func main() {
	only := flag.String("run", "", "only rows whose guard, file or test matches this regular expression")
	jobs := flag.Int("jobs", 2, "rows at once")
	find := flag.Bool("find", false, "list the tests of each row's package that fail without the guard")
	verbose := flag.Bool("v", false, "show what the tests said")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, *only, *jobs, *find, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, jobs int, find, verbose bool) (bool, error) {
	wanted, err := pattern.Regexp(only)
	if err != nil {
		return false, err
	}
	url := os.Getenv(testdb.URLVariable)
	if url == "" {
		return false, fmt.Errorf("%s is not set: go run ./internal/testdb/serve -- go run ./scripts/mutate", testdb.URLVariable)
	}
	root, err := os.Getwd()
	if err != nil {
		return false, err
	}
	var rows []mutate.Row
	for _, r := range mutate.Rows() {
		if wanted.MatchString(r.Guard) || wanted.MatchString(r.File) || wanted.MatchString(r.Test) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return false, fmt.Errorf("no row matches %q", only)
	}
	runner, err := mutate.New(root, url)
	if err != nil {
		return false, err
	}
	defer runner.Close()
	fmt.Printf("mutate: %d rows; build their tests and run each without a mutation\n", len(rows))
	runner.Prepare(ctx, rows)
	if find {
		return true, list(ctx, runner, rows)
	}
	return judge(ctx, runner, rows, max(jobs, 1), verbose), nil
}

func list(ctx context.Context, runner *mutate.Runner, rows []mutate.Row) error {
	for _, row := range rows {
		failed, err := runner.Find(ctx, row)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d tests of %s fail\n  %s\n", row.Guard, len(failed), row.Package, strings.Join(failed, "\n  "))
	}
	return nil
}

// judge runs the rows and reports each as it ends.
func judge(ctx context.Context, runner *mutate.Runner, rows []mutate.Row, jobs int, verbose bool) bool {
	queue := make(chan mutate.Row)
	results := make(chan mutate.Result)
	var everyone sync.WaitGroup
	for range jobs {
		everyone.Go(func() {
			for row := range queue {
				results <- runner.Run(ctx, row)
			}
		})
	}
	go func() {
		for _, row := range rows {
			queue <- row
		}
		close(queue)
		everyone.Wait()
		close(results)
	}()
	count := map[mutate.Verdict]int{}
	for r := range results {
		count[r.Verdict]++
		fmt.Printf("%-8s %5.1fs  %s (%s, %s)\n", r.Verdict, r.Took.Round(100*time.Millisecond).Seconds(), r.Guard, r.File, r.Test)
		if verbose || r.Verdict != mutate.Killed {
			fmt.Printf("    %s\n", strings.ReplaceAll(strings.TrimSpace(r.Detail), "\n", "\n    "))
		}
	}
	fmt.Printf("%d killed, %d survived", count[mutate.Killed], count[mutate.Survived])
	if bad := count[mutate.Stale] + count[mutate.Broken]; bad > 0 {
		fmt.Printf(", %d stale or broken", bad)
	}
	fmt.Println()
	return count[mutate.Killed] == len(rows)
}
