package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/weirhq/weir/internal/loop"
)

const (
	prompt = "$ "
	more   = "> "
	// killed is how long a program may take to end after Ctrl-C.
	killed = 2 * time.Second
	// late is how much later than a program the shell itself may hear of a Ctrl-C.
	late = time.Second
)

// Codes that shells end with, beside those of their commands.
const (
	failed      = 1
	noSyntax    = 2
	interrupted = 128 + int(syscall.SIGINT)
)

// Run reads commands and does them, until exit or the end of the input. It returns the
// code that the process ends with. Only on a terminal it prompts, and goes on after what
// it does not understand.
func Run(ctx context.Context, in io.Reader, out, errs io.Writer) (code int, err error) {
	f, ok := in.(*os.File)
	s := &shell{in: in, out: out, errs: errs, asks: ok && term.IsTerminal(int(f.Fd()))} // #nosec G115 -- a descriptor is small
	s.runner, err = interp.New(interp.Interactive(s.asks), interp.StdIO(in, out, errs), interp.ExecHandlers(
		func(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
			return own(interp.DefaultExecHandler(killed))
		},
	))
	if err != nil {
		return failed, fmt.Errorf("shell: %w", err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case which := <-signals:
				s.heard(which)
			case <-over:
				return
			}
		}
	}()
	return s.loop(ctx)
}

type shell struct {
	in        io.Reader
	out, errs io.Writer
	runner    *interp.Runner
	// asks: somebody types on a terminal.
	asks bool

	mu sync.Mutex
	// stop ends the command that runs; nil if none does.
	stop context.CancelFunc
	// typed is what has been typed of a command.
	typed strings.Builder
}

// heard ends a shell without a terminal by the signal, whoever else in this process would
// rather catch it. On a terminal, Ctrl-C ends the command that runs, or forgets what was
// typed; nothing else ends such a shell.
func (s *shell) heard(which os.Signal) {
	if !s.asks {
		signal.Reset(which)
		_ = syscall.Kill(os.Getpid(), which.(syscall.Signal)) // we may signal ourselves
		return
	}
	if which != syscall.SIGINT {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
		return
	}
	s.typed.Reset()
	_, _ = fmt.Fprint(s.out, "\n"+prompt) // a terminal that is gone ends the input, too
}

func (s *shell) loop(ctx context.Context) (code int, err error) {
	for {
		if err := s.ask(); err != nil {
			return failed, err
		}
		line, err := readLine(s.in)
		end := errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO)
		if err != nil && !end {
			return failed, fmt.Errorf("shell: %w", err)
		}
		code, over := s.take(ctx, line, end)
		if over {
			return code, nil
		}
		if end {
			return s.run(ctx, "exit"), nil // as if it were typed: there may be a trap
		}
	}
}

// ask prompts.
func (s *shell) ask() (err error) {
	switch {
	case !s.asks:
	case s.pending() != "":
		_, err = fmt.Fprint(s.out, more)
	default:
		_, err = fmt.Fprint(s.out, prompt)
	}
	return err
}

func (s *shell) pending() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.typed.String()
}

// take does what the lines so far say, once they say something whole. After the last one
// they must.
func (s *shell) take(ctx context.Context, line string, last bool) (code int, over bool) {
	s.mu.Lock()
	s.typed.WriteString(line)
	program, err := syntax.NewParser().Parse(strings.NewReader(s.typed.String()), "")
	if err != nil && syntax.IsIncomplete(err) && !last {
		s.mu.Unlock()
		return 0, false
	}
	s.typed.Reset()
	if err != nil {
		s.mu.Unlock()
		return s.gaveUp(ctx, err, noSyntax), !s.asks || last
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	s.stop = stop
	s.mu.Unlock()
	code, over, err = s.each(within, program.Stmts)
	if s.asks && code == interrupted {
		// The terminal sends a Ctrl-C to the shell as well: heard after the prompt, it
		// would end the next command.
		loop.Wait(within, late, nil)
	}
	s.mu.Lock()
	s.stop = nil
	s.mu.Unlock()
	switch {
	case errors.Is(err, context.Canceled):
		return s.gaveUp(ctx, nil, interrupted), !s.asks
	case err != nil:
		return s.gaveUp(ctx, err, failed), !s.asks
	}
	return code, over
}

// each runs one statement after the other: of a whole file the interpreter would believe
// that the shell ends with it. The error is one of the interpreter, not of a command.
func (s *shell) each(ctx context.Context, all []*syntax.Stmt) (code int, over bool, err error) {
	for _, one := range all {
		code = 0
		if err = s.runner.Run(ctx, one); err != nil {
			var status interp.ExitStatus
			if !errors.As(err, &status) {
				return failed, true, err
			}
			code = int(status)
		}
		if s.runner.Exited() {
			return code, true, nil
		}
	}
	return code, false, nil
}

// gaveUp says why a command was not done, and makes the code the one of the last command.
func (s *shell) gaveUp(ctx context.Context, why error, code int) int {
	if why != nil {
		_, _ = fmt.Fprintln(s.errs, why) // a terminal that is gone ends the input, too
	}
	return s.run(ctx, fmt.Sprintf("(exit %d)", code))
}

// run does a command of our own.
func (s *shell) run(ctx context.Context, text string) int {
	program, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return failed
	}
	code, _, err := s.each(ctx, program.Stmts)
	if err != nil {
		return failed
	}
	return code
}

// readLine reads no further than the end of the line: the rest is for the command. The last
// line may lack its end.
func readLine(in io.Reader) (string, error) {
	var line []byte
	for {
		var one [1]byte
		n, err := in.Read(one[:])
		if n == 1 {
			line = append(line, one[0])
			if one[0] == '\n' {
				return string(line), nil
			}
		}
		if err != nil {
			return string(line), err
		}
	}
}
