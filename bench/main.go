// Command bench measures Weir beside River: one PostgreSQL, one run, the same settings,
// completion counted in the database. README.md says how and why.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/weirhq/weir/bench/internal/flow/temporal"
	"github.com/weirhq/weir/bench/internal/flow/weirflow"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/rollouts"
	"github.com/weirhq/weir/bench/internal/scenario"
	"github.com/weirhq/weir/bench/internal/server"
	"github.com/weirhq/weir/bench/internal/streams"
	"github.com/weirhq/weir/bench/internal/workspaces"
)

func main() {
	weirflow.Child()
	rollouts.Child()
	workspaces.Child()
	if streams.Child() {
		if err := streams.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench: server of the streams:", err)
			os.Exit(1)
		}
		return
	}
	// A reader that closes the pipe early must not leave a server behind.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) (err error) {
	options, err := parse(args, getenv)
	if err != nil {
		return err
	}
	start := time.Now()
	environment := report.Describe(ctx)
	srv, err := server.Open(ctx, options.databaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close(context.WithoutCancel(ctx))) }()
	bench, closeAll, err := assemble(ctx, srv, environment, options, out)
	defer closeAll()
	if err != nil {
		return err
	}
	bench.Report.Environment.Print(out)

	for _, s := range options.scenarios {
		if err := s.Run(ctx, bench, s.Budget); err != nil {
			return fmt.Errorf("scenario %s: %w", s.Names[0], err)
		}
	}
	bench.Report.Environment.LoadAfter = report.LoadAverage()
	bench.Report.Environment.Seconds = time.Since(start).Seconds()
	bench.Report.Finish()
	bench.Report.PrintGoals(out)
	fmt.Fprintf(out, "\n%s; took %.0f s, load now %s\n", bench.Report.Counts(), time.Since(start).Seconds(), report.LoadAverage())
	if options.json != "" {
		if err := bench.Report.WriteJSON(options.json); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, bench.Report.Headline)
	return nil
}

// options are the flags and the environment of one run.
type options struct {
	databaseURL string
	json        string
	quick       bool
	temporal    string
	only        string
	docker      string
	homeMB      int
	scale       float64
	scenarios   []scenario.Scenario
	getenv      func(string) string
}

func parse(args []string, getenv func(string) string) (options, error) {
	o := options{scale: 1, getenv: getenv}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.databaseURL, "database-url", "", "use this PostgreSQL (a superuser's URL) instead of starting a private one")
	flags.StringVar(&o.json, "json", "bench.json", "write all figures to this file; empty for none")
	flags.BoolVar(&o.quick, "quick", false, "only the first scenario, in under 50 s")
	flags.StringVar(&o.temporal, "temporal", temporal.Auto, "the peer of workflows: auto (TEMPORAL_CLI, or temporal in PATH), build (from its module, minutes), off, or a path")
	flags.StringVar(&o.docker, "docker", scenario.DockerAuto, "the engine of workspaces: auto (a private one, if this machine can), off, or its address")
	flags.IntVar(&o.homeMB, "home-mb", 600, "how many MB the larger home has that is archived")
	flags.StringVar(&o.only, "only", "", "run only the scenario with this name")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: bench takes flags only", flags.Arg(0))
	}
	if text := getenv("BENCH_SCALE"); text != "" {
		scale, err := strconv.ParseFloat(text, 64)
		if err != nil || !(scale > 0 && scale <= 100) {
			return options{}, fmt.Errorf("BENCH_SCALE is %q: give a number above 0 and up to 100, such as 0.1 or 10", text)
		}
		o.scale = scale
	}
	var err error
	o.scenarios, err = choose(o.only, o.quick)
	return o, err
}

// choose returns the scenarios to run.
func choose(only string, quick bool) ([]scenario.Scenario, error) {
	var names []string
	for _, s := range scenario.All {
		for _, name := range s.Names {
			if name == only {
				return []scenario.Scenario{s}, nil
			}
			names = append(names, name)
		}
	}
	switch {
	case only != "":
		return nil, fmt.Errorf("no scenario %q: choose one of %q", only, names)
	case quick:
		return scenario.All[:1], nil
	default:
		return slices.DeleteFunc(slices.Clone(scenario.All), func(s scenario.Scenario) bool { return s.Long }), nil
	}
}
