package inside

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"github.com/weirhq/weir/internal/loop"
)

// shell is one that runs, on a terminal of its own or on pipes.
type shell struct {
	cmd *exec.Cmd
	// in and out are what is typed and printed; on a terminal both are tty.
	in, out, tty *os.File
	// once ends it, with code.
	once sync.Once
	code int
}

// termForm is what a terminal may be called.
var termForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]{0,39}$`)

// start starts a shell. Without a name its terminal is dumb: the page knows no more.
func start(c Config, plain bool, term string) (sh *shell, err error) {
	if !termForm.MatchString(term) {
		term = "dumb"
	}
	cmd := exec.Command(c.Shell[0], c.Shell[1:]...) // #nosec G204 -- the shell of this workspace
	cmd.Dir = c.Home
	cmd.Env = append(os.Environ(), "TERM="+term, "HOME="+c.Home, "PWD="+c.Home)
	sh = &shell{cmd: cmd}
	if !plain {
		err = hearing(func() (err error) {
			sh.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
			return err
		})
		sh.in, sh.out = sh.tty, sh.tty
		return sh, err
	}
	reads, typed, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	printed, writes, err := os.Pipe()
	if err != nil {
		closeAll(reads, typed)
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = reads, writes, writes
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = hearing(cmd.Start)
	closeAll(reads, writes) // they are the shell's
	if err != nil {
		closeAll(typed, printed)
		return nil, err
	}
	sh.in, sh.out = typed, printed
	return sh, nil
}

// deaf: this program was started so that it does not hear a terminal hang up. It is asked
// once, for signal forgets it when it has caught one.
var deaf = signal.Ignored(syscall.SIGHUP)

// hearing starts a process that hears when its terminal hangs up, also below a server that
// was started to outlive its own (nohup): it would not, and neither would what it starts.
func hearing(start func() error) error {
	if deaf {
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, syscall.SIGHUP) // what is caught here is as usual there
		defer signal.Stop(heard)             // ignored again
	}
	return start()
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing is kept there
	}
}

// told heeds what the other side says beside what it types.
func (sh *shell) told(s said) {
	switch {
	case sh.tty != nil && s.Rows > 0 && s.Cols > 0:
		_ = pty.Setsize(sh.tty, &pty.Winsize{Rows: s.Rows, Cols: s.Cols}) // a size is a wish
	case sh.tty == nil && s.End:
		_ = sh.in.Close() // it may have been said before
	}
}

// hangUp ends its terminal, or its pipes.
func (sh *shell) hangUp() { closeAll(sh.in, sh.out) }

const (
	restWithin = 2 * time.Second
	restEvery  = 5 * time.Millisecond
)

// rest waits for a shell that has printed its last word to end by itself: else it would be
// killed on the way, and its code be lost. It is not reaped, so that its number stays its
// own.
func (sh *shell) rest(ctx context.Context) {
	for n := restWithin / restEvery; n > 0 && !ended(sh.cmd.Process.Pid) && loop.Wait(ctx, restEvery, nil); n-- {
	}
}

// exitCode is the code of a process as a shell tells it.
func exitCode(s *os.ProcessState) int {
	if s == nil {
		return 255
	}
	if by, ok := s.Sys().(syscall.WaitStatus); ok && by.Signaled() {
		return 128 + int(by.Signal())
	}
	return s.ExitCode()
}
