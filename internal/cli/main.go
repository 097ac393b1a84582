package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
)

// echo is how soon after the first signal another one counts as the same:
// terminals and wrappers often send it to the group and to the process.
const echo = 500 * time.Millisecond

// Main runs the command of this process and returns its exit code. The first
// signal asks it to end, the second ends its patience, the third ends it.
func Main(version string) int {
	app.Keeper() // we may have been started to keep somebody's work, not to run a command
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	force, hurry := context.WithCancel(context.Background())
	defer hurry()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		cancel(&command.Signaled{Signal: <-signals})
		for first := time.Now(); time.Since(first) < echo; {
			<-signals
		}
		hurry()
		signal.Stop(signals)
	}()
	e := &command.Env{Streams: command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, Force: force, Version: version, Program: command.CalledAs(os.Args[0])}
	return execute(ctx, e, os.Args[1:])
}

func execute(ctx context.Context, e *command.Env, args []string) int {
	e.Line = args
	root := root(e)
	root.SetArgs(command.KeepNegative(args))
	ran, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	return e.Report(command.MissingReason(ran, err))
}
