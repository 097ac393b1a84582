//go:build unix

package exec

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
)

// keeperName is the program name under which a binary becomes the keeper.
const keeperName = "weir-keeper"

const (
	// watchEvery is the longest time between two looks at the leashes, because timers
	// stand still while the machine sleeps.
	watchEvery = time.Second
	// clearing is how long the keeper tries to kill what the work left behind.
	clearing = 5 * time.Second
)

// KeeperMain is the keeper's main function. It returns at once unless this process was
// started as a keeper; then it does not return.
func KeeperMain() {
	if len(os.Args) > 0 && os.Args[0] == guardianName {
		guardianMain()
	}
	if len(os.Args) == 0 || os.Args[0] != keeperName {
		return
	}
	// The thread is locked because the kernel ties the life of the work to the thread
	// that forked it.
	runtime.LockOSThread()
	// The agent may die with the pipe open, and a terminal's signals are meant for the
	// agent. The signals are caught instead of ignored, because an ignored signal stays
	// ignored in the work.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	_ = adoptOrphans() // without it, processes that leave their group are found only by their fence
	k := &keeper{out: os.Stdout, leaders: map[int]*ward{}, stir: make(chan struct{}, 1), cgroups: openCgroups(), guardian: &guardian{has: map[string]charge{}}}
	cmd, err := k.guardian.start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "weir-keeper: start the guardian:", err) // it is tried again
	}
	go k.guardian.watch(cmd)
	k.say(answer{Isolation: k.cgroups.isolation()})
	go k.watch()
	k.serve(os.Stdin)
	// The agent is gone. Its work continues, on the leash.
	k.group.Wait()
	os.Exit(0)
}

// keeper is the parent of the work.
type keeper struct {
	outMu sync.Mutex
	out   io.Writer
	group sync.WaitGroup
	stir  chan struct{}

	cgroups  *cgroups
	guardian *guardian

	mu sync.Mutex
	// leaders are the first processes of attempts, by pid.
	leaders map[int]*ward
}

// ward is one attempt.
type ward struct {
	spec
	pid int
	// group is the folder of its cgroup; empty means that it has none.
	group string
	// leash is when to check whether the leash has been extended.
	leash time.Duration
	// cut is set if the work was killed because its leash was not extended.
	cut bool
}

func (k *keeper) say(a answer) {
	text, err := json.Marshal(a)
	if err != nil {
		return
	}
	k.outMu.Lock()
	defer k.outMu.Unlock()
	_, _ = k.out.Write(append(text, '\n')) // an agent that is gone reads the files instead
}

// serve starts the requested work until the agent is gone.
func (k *keeper) serve(in io.Reader) {
	lines := json.NewDecoder(bufio.NewReader(in))
	for {
		var s spec
		if lines.Decode(&s) != nil {
			return
		}
		a := answer{ID: s.ID}
		w, born, err := k.start(s)
		if err != nil {
			a.Error = err.Error()
			if b := broken(err); b != nil {
				a.Fault = b.Fault
			}
		} else {
			a.PID, a.Born = w.pid, born
		}
		k.say(a)
	}
}

func (k *keeper) start(s spec) (*ward, uint64, error) {
	in, err := os.Open(os.DevNull)
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	out, err := openOutput(s.State, stdoutFile)
	if err != nil {
		return nil, 0, err
	}
	defer out.Close()
	errs, err := openOutput(s.State, stderrFile)
	if err != nil {
		return nil, 0, err
	}
	defer errs.Close()
	attr := &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Files: []uintptr{in.Fd(), out.Fd(), errs.Fd()}}
	w := &ward{spec: s, leash: readLeash(s.State)}
	if w.leash > 0 && w.leash <= uptime.Now() {
		return nil, 0, driver.ErrLate // the agent was suspended before it told the keeper
	}
	if err := k.fork(w, attr); err != nil {
		if _, gone := os.Stat(s.Dir); errors.Is(gone, fs.ErrNotExist) {
			return nil, 0, fmt.Errorf("start %s: there is no folder %s to start it in", s.Path, s.Dir)
		}
		return nil, 0, fmt.Errorf("start %s: %w", s.Path, err)
	}
	born := bornAt(w.pid)
	if err := writeJSON(filepath.Join(s.State, stateFile), state{s.Task, s.Attempt, s.Fence, w.pid, born, os.Getpid(), w.group}); err != nil {
		fmt.Fprintln(os.Stderr, "weir-keeper:", err) // the work is found by its fence
	}
	k.group.Go(func() { k.await(w) })
	select {
	case k.stir <- struct{}{}:
	default:
	}
	return w, born, nil
}

// fork starts the first process of an attempt, inside a cgroup of its own if there can be
// one. The guardian knows of the attempt before its first process lives.
func (k *keeper) fork(w *ward, attr *syscall.ProcAttr) (err error) {
	attr.Sys = attributes(w.As)
	if w.group, err = k.cgroups.make(); err != nil {
		return fmt.Errorf("make a cgroup: %w", err)
	}
	done, err := into(attr.Sys, w.group)
	if err != nil {
		return fmt.Errorf("open the cgroup: %w", err)
	}
	defer done()
	k.guardian.tell(charge{Mark: w.mark(), Group: w.group})
	k.mu.Lock()
	defer k.mu.Unlock()
	w.pid, err = syscall.ForkExec(w.Path, w.Argv, attr) // #nosec G204 -- to run what a task names is the purpose
	if err != nil {
		k.release(w)
		return err
	}
	k.leaders[w.pid] = w
	return nil
}

// release forgets an attempt of which nothing is left.
func (k *keeper) release(w *ward) {
	ctx, cancel := context.WithTimeout(context.Background(), clearing)
	defer cancel()
	removeCgroup(ctx, w.group)
	k.guardian.tell(charge{Mark: w.mark(), Over: true})
}

func (w *ward) mark() string { return driver.Mark(w.Task, w.Attempt, w.Fence) }

// broken returns what is broken on the node if that kept work from starting. The kernel
// answers EAGAIN when no more processes may be started.
func broken(err error) *driver.Broken {
	for _, is := range []error{syscall.ENOMEM, syscall.EAGAIN, syscall.ENFILE, syscall.EMFILE} {
		if errors.Is(err, is) {
			return &driver.Broken{Fault: node.NoMemory, Err: err}
		}
	}
	return driver.BrokenBy(err)
}

// wait4 waits for one child and reaps it.
func wait4(pid int) (status syscall.WaitStatus) {
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			return status
		}
	}
}

// openOutput opens a file that the work prints into. The file is read while it grows. It
// is opened for appending, so that output is always added at the end, whatever the work
// does to its position in the file.
func openOutput(folder, name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600) // #nosec G304 -- a file of our own folder
}

func attributes(as *account) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(attr)
	if as != nil {
		attr.Credential = &syscall.Credential{Uid: as.UID, Gid: as.GID, Groups: as.Groups}
	}
	return attr
}

// await waits for the end of an attempt's first process, kills what it left behind, and
// reports the end.
func (k *keeper) await(w *ward) {
	status := reap(w.pid)
	k.mu.Lock()
	delete(k.leaders, w.pid)
	cut := w.cut
	k.mu.Unlock()
	killCgroup(w.group)
	k.clear(w)
	e := ending{Code: status.ExitStatus(), Cut: cut}
	if status.Signaled() {
		e.Code, e.Signal = 128+int(status.Signal()), status.Signal().String()
	}
	if err := writeJSON(filepath.Join(w.State, exitFile), e); err != nil && !os.IsNotExist(err) {
		fmt.Fprintln(os.Stderr, "weir-keeper:", err)
	}
	k.say(answer{ID: w.ID, Exit: &e})
	// A process that is just being started hides its mark, and a list of children can
	// miss one while others end. So the keeper looks again after the end is reported; on
	// a busy machine a start can take long.
	for _, wait := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond, 2 * time.Second} {
		loop.Wait(context.Background(), wait, nil)
		k.clear(w)
	}
	k.release(w)
}

// clear kills processes that left the group. They have become children of the keeper
// because their parents are dead.
func (k *keeper) clear(w *ward) {
	for end := time.Now().Add(clearing); k.killStrays(w.mark()) && time.Now().Before(end); {
		loop.Wait(context.Background(), time.Millisecond, nil)
	}
}

// killStrays kills children that carry the mark and are not the first process of an
// attempt, reaps those that are dead, and reports whether it found any to kill. The mutex
// keeps new work out, because between its fork and its entry in the list it would look
// like a stray.
func (k *keeper) killStrays(mark string) (found bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, pid := range children(os.Getpid()) {
		if k.leaders[pid] != nil || k.guardian.is(pid) {
			continue
		}
		// A process that hides its mark must belong to this attempt if no other attempt
		// runs.
		if has := carried(pid).mark(); has == mark || has == "" && len(k.leaders) == 0 {
			found = true
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
	return found
}

// watch kills work whose leash ran out.
func (k *keeper) watch() {
	for {
		now, next := uptime.Now(), time.Duration(0)
		k.mu.Lock()
		for _, w := range k.leaders {
			if w.leash == 0 {
				continue
			}
			if w.leash <= now {
				w.leash = readLeash(w.State)
			}
			if w.leash <= now {
				w.cut, w.leash = true, 0
				_ = syscall.Kill(-w.pid, syscall.SIGKILL)
				killCgroup(w.group)
				continue
			}
			if next == 0 || w.leash < next {
				next = w.leash
			}
		}
		k.mu.Unlock()
		wait := time.Hour
		if next > 0 {
			wait = min(max(next-now, time.Millisecond), watchEvery)
		}
		loop.Wait(context.Background(), wait, k.stir)
	}
}
