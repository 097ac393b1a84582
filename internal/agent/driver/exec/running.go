//go:build unix

package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/uptime"
)

const (
	// peekFirst and peekMost bound the interval at which the output is read: short when
	// there is output, long when there is none.
	peekFirst, peekMost = 5 * time.Millisecond, 100 * time.Millisecond
	// orphanWait is how long after the end of an adopted process its keeper may take to
	// record the exit.
	orphanWait = 3 * time.Second
)

// running is one process group.
type running struct {
	driver *Driver
	name   string
	folder string
	mark   string
	pid    int
	born   uint64
	out    driver.Output
	// fate is the end that this process's own keeper reports; it is nil for adopted work,
	// whose keeper writes a file.
	fate *fate

	// over is closed when exit and err are set: the work has ended and all its output is
	// written.
	over chan struct{}
	exit driver.Exit
	err  error
}

// begin follows the output and the end.
func (r *running) begin() { go r.follow() }

func (r *running) follow() {
	defer close(r.over)
	defer r.driver.forget(r)
	t, err := openTails(r.folder, r.out)
	if err != nil {
		killGroup(r.pid)
		r.err = errors.Join(err, killMarked(context.Background(), r.mark))
		return
	}
	defer t.close()
	var end ending
	for wait := peekFirst; ; wait = min(2*wait, peekMost) {
		if t.read() {
			wait = peekFirst
		}
		var done bool
		if end, done, r.err = r.await(wait); done {
			break
		}
	}
	for t.read() {
	}
	r.exit = driver.Exit{Code: end.Code, Signal: end.Signal, Leashed: end.Cut}
	if end.Cut {
		r.exit.Reason = driver.LeashReason
	}
}

// await waits for the end for at most the given time.
func (r *running) await(wait time.Duration) (ending, bool, error) {
	if r.fate == nil {
		loop.Wait(context.Background(), wait, nil)
		return r.lookForEnd()
	}
	loop.Wait(context.Background(), wait, r.fate.done)
	select {
	case <-r.fate.done:
	default:
		return ending{}, false, nil
	}
	if !r.fate.lost {
		return r.fate.end, true, nil
	}
	var e ending
	if readJSON(filepath.Join(r.folder, exitFile), &e) == nil {
		return e, true, nil
	}
	return ending{}, true, errKeeperGone
}

// lookForEnd is how adopted work is followed.
func (r *running) lookForEnd() (ending, bool, error) {
	var e ending
	if readJSON(filepath.Join(r.folder, exitFile), &e) == nil {
		return e, true, nil
	}
	if r.alive() {
		return ending{}, false, nil
	}
	// The file appears a moment after the death of the process.
	for end := time.Now().Add(orphanWait); time.Now().Before(end); loop.Wait(context.Background(), peekFirst, nil) {
		if readJSON(filepath.Join(r.folder, exitFile), &e) == nil {
			return e, true, nil
		}
	}
	return ending{}, true, errUnwatched
}

func (r *running) isOver() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

// alive reports whether the first process still runs.
func (r *running) alive() bool { return r.born != 0 && bornAt(r.pid) == r.born }

// Wait returns how the work ended.
func (r *running) Wait(ctx context.Context) (driver.Exit, error) {
	select {
	case <-r.over:
		return r.exit, r.err
	case <-ctx.Done():
		return driver.Exit{}, ctx.Err()
	}
}

// Leash sets the time at which the keeper kills the work.
func (r *running) Leash(until time.Time) error {
	return writeLeash(r.folder, uptime.Now()+time.Until(until))
}

// Stop sends SIGTERM to the group, and after the grace period kills everything with
// SIGKILL.
func (r *running) Stop(ctx context.Context, grace time.Duration) error {
	if grace > 0 && r.alive() {
		_ = syscall.Kill(-r.pid, syscall.SIGTERM)
		_ = syscall.Kill(-r.pid, syscall.SIGCONT) // a stopped process would not handle the signal otherwise
		good := loop.Wait(ctx, grace, r.over)
		if r.isOver() {
			return nil
		}
		if !good {
			return fmt.Errorf("process %d was asked to end and is still there: %w", r.pid, ctx.Err())
		}
	}
	return r.killAll(ctx)
}

// killAll kills the group, then every other process that carries the mark, until none is
// left.
func (r *running) killAll(ctx context.Context) error {
	for {
		if r.alive() {
			killGroup(r.pid)
		}
		good := loop.Wait(ctx, peekFirst, r.over)
		if r.isOver() { // the keeper has killed the rest, if it could
			return killMarked(ctx, r.mark)
		}
		if !good {
			return fmt.Errorf("process %d is still there: %w", r.pid, ctx.Err())
		}
	}
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// killMarked kills every process that carries a mark. A process that is just being
// started hides its mark for a moment, so a single look that finds none is not enough.
func killMarked(ctx context.Context, mark string) error {
	for clean := 0; ; {
		left := 0
		for _, pid := range processes() {
			if carried(pid).mark() == mark && bornAt(pid) != 0 {
				left++
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if clean++; left > 0 {
			clean = 0
		}
		if clean == 3 {
			return nil
		}
		if !loop.Wait(ctx, peekFirst, nil) {
			if left == 0 {
				return nil
			}
			return fmt.Errorf("%d processes of the attempt are still there: %w", left, ctx.Err())
		}
	}
}

// tails follow both outputs.
type tails struct{ stdout, stderr *tail }

func openTails(folder string, out driver.Output) (*tails, error) {
	one, two := out.Taken()
	stdout, err := openTail(filepath.Join(folder, stdoutFile), one, out.Stdout().Write)
	if err != nil {
		return nil, err
	}
	stderr, err := openTail(filepath.Join(folder, stderrFile), two, out.Stderr().Write)
	if err != nil {
		stdout.close()
		return nil, err
	}
	return &tails{stdout, stderr}, nil
}

// read passes on new output and reports whether there was any.
func (t *tails) read() bool {
	one, two := t.stdout.read(), t.stderr.read()
	return one || two
}

func (t *tails) close() {
	t.stdout.close()
	t.stderr.close()
}

// tail follows a file that another process appends to.
type tail struct {
	f       *os.File
	at      int64
	punched int64
	write   func([]byte) (int, error)
	buf     []byte
}

// punchEvery is the number of bytes after which output that was read is returned to the
// file system, so that endless output does not fill the disk.
const punchEvery = 8 << 20

func openTail(path string, from int64, write func([]byte) (int, error)) (*tail, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // #nosec G304 -- a file of our own folder
	if err != nil {
		return nil, fmt.Errorf("follow the output: %w", err)
	}
	return &tail{f: f, at: from, write: write}, nil
}

// read reads at most 1 MiB.
func (t *tail) read() bool {
	info, err := t.f.Stat()
	if err != nil || info.Size() <= t.at {
		return false
	}
	size := min(info.Size()-t.at, 1<<20)
	if int64(len(t.buf)) < size {
		t.buf = make([]byte, size)
	}
	n, _ := t.f.ReadAt(t.buf[:size], t.at) // an early end of the file does no harm
	if n == 0 {
		return false
	}
	_, _ = t.write(t.buf[:n]) // an Output never fails
	t.at += int64(n)
	// The last part stays because a later process of the agent may have to read it again.
	if t.at-t.punched >= 2*punchEvery && punch(t.f, t.at-punchEvery) == nil {
		t.punched = t.at - punchEvery
	}
	return true
}

func (t *tail) close() { _ = t.f.Close() }
