package docker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"syscall"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/uptime"
)

// ErrClosed says that the driver was closed while the container ran on.
var ErrClosed = errors.New("the docker driver is closed, the container runs on")

// running is a container from its start to its end.
type running struct {
	driver *Driver
	name   string
	// begun is closed when the start is over; failed is the error of a failed start.
	begun  chan struct{}
	failed error

	id     string
	memory int64
	tail   *tail
	// leash is the file with the time at which the container is killed; empty means that
	// it has none.
	leash string
	// stopped is set when Weir has asked the container to end.
	stopped atomic.Bool

	// done is closed when the container has ended and is removed; exit and err are set
	// before.
	done chan struct{}
	exit driver.Exit
	err  error
}

// Wait waits for the end of the work.
func (r *running) Wait(ctx context.Context) (driver.Exit, error) {
	select {
	case <-r.done:
		return r.exit, r.err
	case <-ctx.Done():
		return driver.Exit{}, ctx.Err()
	}
}

// watch follows the container to its end: it records the exit, reads the rest of the
// output and removes the container.
func (r *running) watch() {
	d := r.driver
	defer close(r.done)
	defer d.forget(r)
	ctx, cancel := context.WithCancel(d.life)
	defer cancel()
	ended, copied := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(copied)
		r.tail.follow(ctx, ended)
	}()
	r.exit, r.err = r.await(ctx)
	if r.err != nil {
		cancel() // the engine does not answer, so no more output will come
	}
	close(ended)
	<-copied
	if r.err == nil && r.exit.Signal == syscall.SIGKILL.String() && r.exit.Reason == "" && !r.stopped.Load() {
		r.exit = r.killed(ctx, r.exit)
	}
	if d.life.Err() != nil {
		r.err = ErrClosed
		return
	}
	if err := d.remove(r.id); err != nil {
		// The next process of the agent finds and removes it.
		d.cfg.Log.Warn("a container is left behind", "container", r.name, "error", err)
		return
	}
	d.unleash(r.id, r.leash)
}

// killed says why a container died that Weir did not stop: by its leash, or by its memory
// limit. Docker learns of a lack of memory separately from the exit, sometimes after it
// and sometimes never, because the cgroup of the container is gone before Docker reads
// it.
func (r *running) killed(ctx context.Context, exit driver.Exit) driver.Exit {
	if until, err := readLeash(r.leash); r.leash != "" && err == nil && uptime.Now() >= until {
		exit.Leashed, exit.Reason = true, driver.LeashReason
		return exit
	}
	if r.memory == 0 {
		return exit
	}
	for range 20 {
		state, err := r.driver.inspect(ctx, r.id)
		if err != nil {
			break
		}
		if state.OOMKilled {
			return r.verdict(state, false)
		}
		loop.Wait(ctx, 100*time.Millisecond, nil)
	}
	exit.Reason = "killed from outside, or out of memory (limit " + size(r.memory) + "): Docker does not say which"
	return exit
}

// Leash sets the time at which the warden kills the container.
func (r *running) Leash(until time.Time) error {
	select {
	case <-r.done:
		return nil
	default:
	}
	if r.leash == "" {
		return nil
	}
	return writeLeash(r.leash, until)
}

// await asks how the container ended until it has ended. The engine may go away and come
// back in the meantime; it ends the container too, unless it is configured otherwise.
func (r *running) await(ctx context.Context) (driver.Exit, error) {
	d := r.driver
	var away time.Time
	left := false
	for {
		if err := r.next(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
			left = true
		}
		state, err := d.inspect(ctx, r.id)
		switch {
		case ctx.Err() != nil:
			return driver.Exit{}, ctx.Err()
		case err == nil && !state.Running && state.Status != container.StateCreated:
			return r.verdict(state, left), nil
		case err == nil:
			away = time.Time{}
			continue
		case cerrdefs.IsNotFound(err):
			return driver.Exit{Code: 137, Signal: "killed", Reason: "somebody removed its container"}, nil
		case away.IsZero():
			away, left = time.Now(), true
		case time.Since(away) > d.cfg.Patience:
			return driver.Exit{}, &driver.Broken{Fault: node.EngineAway, Err: &problem.Problem{
				Kind: problem.Unreachable, Err: err,
				What: fmt.Sprintf("Docker has not answered for %v: nobody knows how container %s ended", d.cfg.Patience, r.name),
				Next: "look at the engine on this machine; the container is removed when it answers again",
			}}
		}
		loop.Wait(ctx, min(time.Second, d.cfg.Patience/4), nil)
	}
}

// look is how long one call waits for the end of a container. The engine is asked in
// between, because a hanging call and a running container look alike.
const look = 30 * time.Second

// next returns when the container has ended, or at the latest after one look.
func (r *running) next(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, min(look, r.driver.cfg.Patience))
	defer cancel()
	wait := r.driver.cli.ContainerWait(ctx, r.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	// One of the two always arrives, because the call ends with ctx.
	select {
	case answer := <-wait.Result:
		if answer.Error != nil {
			return errors.New(answer.Error.Message)
		}
		return nil
	case err := <-wait.Error:
		return err
	}
}

// verdict translates the state of an ended container.
func (r *running) verdict(state *container.State, engineLeft bool) driver.Exit {
	exit := driver.Exit{Code: state.ExitCode}
	if n := state.ExitCode - 128; n > 0 && n < 32 {
		exit.Signal = syscall.Signal(n).String()
	}
	switch {
	case exit.Code == 0:
	case state.OOMKilled && r.memory > 0:
		exit.Reason = "out of memory (limit " + size(r.memory) + ")"
	case state.OOMKilled:
		exit.Reason = "out of memory"
	case state.Error != "":
		exit.Reason = state.Error
	case engineLeft && exit.Signal != "":
		exit.Reason, exit.Fault = "Docker was stopped or restarted", node.EngineAway
	}
	return exit
}

// Stop asks the container to end, then kills it.
func (r *running) Stop(ctx context.Context, grace time.Duration) error {
	d := r.driver
	if err := r.end(ctx, grace); err != nil {
		return err
	}
	// The rest of the output must still be read and the container removed.
	ctx, cancel := context.WithTimeout(ctx, 2*d.cfg.Call)
	defer cancel()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return d.fault("stop container "+r.name, ctx.Err())
	}
}

func (r *running) end(ctx context.Context, grace time.Duration) error {
	d := r.driver
	select {
	case <-r.done:
		return nil
	default:
	}
	r.stopped.Store(true)
	if grace > 0 {
		seconds := int(math.Ceil(grace.Seconds()))
		soft, cancel := context.WithTimeout(ctx, grace+d.cfg.Call)
		_, err := d.cli.ContainerStop(soft, r.id, client.ContainerStopOptions{Timeout: &seconds})
		cancel()
		if err == nil || cerrdefs.IsNotFound(err) {
			return nil
		}
	}
	hard, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.cfg.Call)
	defer cancel()
	_, err := d.cli.ContainerKill(hard, r.id, client.ContainerKillOptions{Signal: "SIGKILL"})
	// A conflict means that the container does not run anymore.
	if cerrdefs.IsNotFound(err) || cerrdefs.IsConflict(err) {
		return nil
	}
	return d.fault("kill container "+r.name, err)
}
