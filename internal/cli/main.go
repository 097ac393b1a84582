package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// Streams are a command's standard files.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// echo is how soon after the first signal another one counts as the same:
// terminals and wrappers often send it to the group and to the process.
const echo = 500 * time.Millisecond

// Main runs the command of this process and returns its exit code. The first
// signal asks it to end, the second ends its patience, the third ends it.
func Main(version string) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	force, hurry := context.WithCancel(context.Background())
	defer hurry()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		<-signals
		cancel()
		for first := time.Now(); time.Since(first) < echo; {
			<-signals
		}
		hurry()
		signal.Stop(signals)
	}()
	return run(ctx, force, os.Args[1:], Streams{os.Stdin, os.Stdout, os.Stderr}, version)
}

func run(ctx, force context.Context, args []string, streams Streams, version string) int {
	e := &env{Streams: streams, force: force, version: version}
	root := e.root()
	root.SetArgs(keepNegative(args))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	return e.report(err)
}

// quiet is an error that has been told already; only its kind counts.
type quiet problem.Kind

func (quiet) Error() string { return "told already" }

// report tells an error in two lines and returns the exit code.
func (e *env) report(err error) int {
	var told quiet
	if errors.As(err, &told) {
		return problem.Kind(told).Exit()
	}
	p := problem.Explain(err)
	kind, next := p.Kind, p.Next
	if !e.began {
		// Nothing has run: the command line itself was refused.
		kind = problem.Invalid
		if next == "" {
			next = "see: " + e.helpFor + " --help"
		}
	}
	what, rest, _ := strings.Cut(strings.TrimSpace(p.What), "\n")
	fmt.Fprintf(e.Err, "weir: %s\n", clean(what))
	if rest != "" {
		fmt.Fprintln(e.Err, cleanLines(rest))
	}
	if next != "" {
		fmt.Fprintf(e.Err, "next: %s\n", clean(next))
	}
	return kind.Exit()
}

func invalid(next, format string, args ...any) error {
	return &problem.Problem{Kind: problem.Invalid, What: fmt.Sprintf(format, args...), Next: next}
}
