package workspacecmd

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/remote"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

func workspaceOpen(e *command.Env) *cobra.Command {
	var onlyPrint bool
	c := &cobra.Command{
		Short: "Open a workspace in the browser; one that is stopped or archived is started",
		Long: `Open a workspace in the browser. The address works once, within 30 seconds. A workspace
that is stopped or archived is started: the page says how far that is.`,
		Example: "  weir workspace open notes\n  weir workspace open notes --print",
	}
	c.Flags().BoolVar(&onlyPrint, "print", false, "print the address, do not open it")
	return command.Operation(e, workspace.Open, c, func(_ context.Context, _ *app.Session, _ *workspace.Named, at workspace.Opened) error {
		return e.Lead(at.URL, onlyPrint)
	})
}

func workspaceSSH(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "ssh NAME", Aliases: []string{"shell", "terminal"}, Short: "Open the terminal of a workspace here; one that is stopped or archived is started", Args: e.Args("NAME"),
		Long: `Open the terminal of a workspace here, through the server's proxy. A workspace that is
stopped or archived is started first. Ctrl-] ends the connection, and so does the end of
the shell, whose exit code is that of the command. What comes on standard input from a
file or a pipe is run by a shell without a terminal: nothing but what it prints comes back.`,
		Example: "  weir workspace ssh notes\n  echo 'df -h .' | weir workspace ssh notes\n  weir workspace ssh notes <build.sh",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			w, err := Find(ctx, s, args[0])
			if err != nil {
				return err
			}
			if err := awake(ctx, e, s, w); err != nil {
				return err
			}
			at, err := workspace.Open.Call(ctx, s.Operations, &workspace.Named{Workspace: w.ID.String()})
			if err != nil {
				return err
			}
			t, err := remote.OpenTerminal(ctx, at.URL, command.Clean(w.Name), terminalName(e))
			if err != nil {
				return err
			}
			defer t.Close()
			return attach(ctx, e, t)
		}),
	}
}

// awake starts a workspace that does not run, and waits for it.
func awake(ctx context.Context, e *command.Env, s *app.Session, w workspace.View) error {
	if w.Phase == ladder.Running && w.Desired == ladder.Running {
		return nil
	}
	in := &workspace.Decision{Named: workspace.Named{Workspace: w.ID.String()}, Body: &op.DecisionBody{Reason: "opened in a terminal"}}
	if _, err := workspace.Start.Call(ctx, s.Operations, in); err != nil {
		return overLimit(e, err)
	}
	o := e.Output()
	o.Out, o.Format = e.Err, "table" // what the shell prints is all that is for a program
	want := ladder.Running
	return watchWorkspace(ctx, o, s, w.ID, &want)
}

// hangUp is Ctrl-]: it ends the connection.
const hangUp = 0x1d

// terminalName is what the terminal is called that somebody types at; empty: nobody does.
func terminalName(e *command.Env) string {
	if f, ok := e.In.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return ""
	}
	return cmp.Or(os.Getenv("TERM"), "dumb")
}

// attach joins this terminal and that of the workspace.
func attach(ctx context.Context, e *command.Env, t *remote.Terminal) error {
	joined, end := context.WithCancel(ctx)
	defer end()
	if f, ok := e.In.(*os.File); ok && terminalName(e) != "" {
		restore, err := raw(joined, e, f, t)
		if err != nil {
			return err
		}
		defer restore()
	}
	var left atomic.Bool
	go func() { // it ends with the process: reading cannot be interrupted
		if typeInto(joined, e, t) {
			left.Store(true)
			end()
		}
	}()
	switch code, err := t.Print(joined, e.Out); {
	case ctx.Err() != nil:
		return command.Quiet(problem.Canceled)
	case left.Load():
		return nil
	case err != nil:
		return err
	case code != 0:
		return command.Status(code)
	}
	return nil
}

// typeInto types what comes on standard input. It reports whether somebody hung up.
func typeInto(ctx context.Context, e *command.Env, t *remote.Terminal) bool {
	types := terminalName(e) != ""
	buffer := make([]byte, 32<<10)
	for {
		n, err := e.In.Read(buffer)
		typed := buffer[:n]
		if i := bytes.IndexByte(typed, hangUp); types && i >= 0 {
			return true
		}
		if n > 0 && t.Write(ctx, typed) != nil {
			return false // it has ended, and whoever reads from it hears how
		}
		if err != nil {
			_ = t.End(ctx) // the same
			return false
		}
	}
}

// raw hands every key over, and every change of the size.
func raw(ctx context.Context, e *command.Env, f *os.File, t *remote.Terminal) (restore func(), err error) {
	fd := int(f.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	sized := func() {
		if columns, rows, err := term.GetSize(fd); err == nil {
			_ = t.Resize(ctx, remote.Size{Rows: rows, Cols: columns}) // a size is a wish
		}
	}
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGWINCH)
	sized()
	go func() {
		for range changes {
			sized()
		}
	}()
	return func() {
		signal.Stop(changes)
		close(changes)
		_ = term.Restore(fd, before) // nothing more can be done
	}, nil
}
