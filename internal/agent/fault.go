package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/uptime"
)

const (
	// checkMost is the timeout for a driver to say whether it works.
	checkMost = 30 * time.Second
	// restForget is how long after its back-off the count of a service's faults is kept.
	restForget = 10 * time.Minute
	// spareLeast is how many bytes must be free for new work; below fullMost a disk is
	// full.
	spareLeast, fullMost = 1 << 20, 64 << 10
	// diskEvery is the time between two looks at the disk while work runs, and fullWithin
	// how long before the end of an attempt a full disk is taken as the cause: many
	// programs remove what they wrote before they exit.
	diskEvery, fullWithin = time.Second, 3 * time.Second
)

// fault is why a service is not claimed. Guarded by the agent's mutex.
type fault struct {
	code, message string
	// driver is the driver that the fault is about; empty means the whole machine.
	driver string
	// begun is the uptime at which the fault was found.
	begun time.Duration
	// until is the uptime at which the service is claimed again. Zero means that the fault
	// was found by a check, and that a check that finds none ends it.
	until time.Duration
	// tries is how often in a row an attempt found the service broken.
	tries int
}

// rests reports whether the service is not to be claimed now.
func (f *fault) rests(now time.Duration) bool { return f != nil && (f.until == 0 || now < f.until) }

// rest returns how long a service is left alone after its nth fault in a row.
func (a *Agent) rest(tries int) time.Duration {
	return min(a.config.Rest<<min(tries-1, 20), a.config.RestMost)
}

// usual returns the driver that the work of a service uses, as far as that is known before
// the work is there: the node's own file says so, or the service has a driver's name.
func (a *Agent) usual(service string) string {
	if run, ok := a.config.Services[service]; ok && run.Driver != "" {
		return run.Driver
	}
	if service == node.Fleet {
		return a.config.DeviceDriver
	}
	if a.config.Drivers[service] != nil {
		return service
	}
	return ""
}

// blame records what an attempt found broken: its service is not claimed for a while. The
// attempts of one claim find the same thing, which counts once.
func (a *Agent) blame(at *attempt, b *driver.Broken) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, was := uptime.Now(), a.faults[at.Service]
	tries := 1
	switch {
	case was == nil:
	case was.until == 0, at.claimed <= was.begun:
		return // known already
	case now-was.until < restForget:
		tries = was.tries + 1
	}
	f := &fault{code: b.Fault, message: at.mask.String(b.Err.Error()), driver: at.run.Driver, begun: now, tries: tries}
	f.until = now + a.rest(tries)
	a.faults[at.Service] = f
	a.log.Warn("this node cannot do a service now; it leaves it to others for a while", "service", at.Service, "fault", f.code, "error", f.message, "for", f.until-now)
	a.tellFaults()
	signal(a.probeNow)
}

// absolve records that work of a service found nothing broken, after it was. Work that
// merely starts does not count, because the same work may fill the disk each time.
func (a *Agent) absolve(at *attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := a.faults[at.Service]; f != nil && f.until > 0 && at.claimed > f.begun && f.driver == at.run.Driver {
		delete(a.faults, at.Service)
		a.tellFaults()
	}
}

// tellFaults has the faults reported. The caller holds the mutex.
func (a *Agent) tellFaults() {
	a.faultsNew = true
	signal(a.beatNow)
	signal(a.kick) // the waiting claim asks for other services now
}

// reportFaults reports what is broken, if that has changed since the last report.
func (a *Agent) reportFaults(ctx context.Context) error {
	a.mu.Lock()
	if !a.faultsNew {
		a.mu.Unlock()
		return nil
	}
	a.faultsNew = false
	now, list := uptime.Now(), []node.Fault{}
	for _, service := range slices.Sorted(maps.Keys(a.faults)) {
		if f := a.faults[service]; f.rests(now) {
			n := node.Fault{Service: service, Fault: f.code, Message: f.message}
			if f.until > 0 {
				n.RetryIn = f.until - now
			}
			list = append(list, n)
		}
	}
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, a.config.Beat/2)
	defer cancel()
	err := a.transport.Faults(ctx, list)
	if err != nil {
		a.mu.Lock()
		a.faultsNew = true
		a.mu.Unlock()
	}
	return err
}

// probeLoop asks the drivers and looks at the disk again and again, and has services
// claimed again whose back-off is over.
func (a *Agent) probeLoop(ctx context.Context) {
	for {
		wait := a.config.Probe
		a.mu.Lock()
		now := uptime.Now()
		for _, f := range a.faults {
			if f.until > now {
				wait = min(wait, f.until-now)
			}
		}
		a.mu.Unlock()
		if !loop.Wait(ctx, wait, a.probeNow) {
			return
		}
		a.probe(ctx)
		a.mu.Lock()
		for _, f := range a.faults {
			if f.until > now && f.until <= uptime.Now() {
				a.tellFaults() // its back-off is over
			}
		}
		a.mu.Unlock()
	}
}

// probe asks every driver whether it works, and looks at the machine itself.
func (a *Agent) probe(ctx context.Context) {
	var all sync.WaitGroup
	var mu sync.Mutex
	failed := map[string]error{}
	for name, d := range a.config.Drivers {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, min(checkMost, 2*a.config.Probe))
			defer cancel()
			if err := d.Check(ctx); err != nil {
				mu.Lock()
				failed[name] = err
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return
	}
	a.checked(failed, a.machine())
}

// machine returns what is wrong with the machine itself, or nil.
func (a *Agent) machine() *driver.Broken {
	if err := os.MkdirAll(Attempts(a.config.Dir), 0o711); err != nil { // #nosec G301 -- work that runs as another user must get through
		return folderFault(err)
	}
	if left, ok := space(a.config.Dir); ok && left < spareLeast {
		return full(a.config.Dir, left)
	}
	return nil
}

// checked takes over what the checks found.
func (a *Agent) checked(failed map[string]error, machine *driver.Broken) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name := range a.config.Drivers {
		if was, is := a.silent[name], failed[name]; (was == nil) != (is == nil) {
			a.log.Info("a driver answers otherwise than before", "driver", name, "error", is)
		}
	}
	a.silent = failed
	for service := range a.config.Info.Capacity {
		name := a.usual(service)
		var f *fault
		switch err := failed[name]; {
		case machine != nil:
			f = &fault{code: machine.Fault, message: machine.Err.Error()}
		case err != nil:
			f = &fault{code: node.NoDriver, message: problem.Explain(err).What, driver: name}
		}
		was := a.faults[service]
		switch {
		case f == nil && was != nil && was.until == 0:
			delete(a.faults, service)
		case f != nil && (was == nil || was.until > 0 || was.code != f.code || was.message != f.message):
			f.begun = uptime.Now()
			a.faults[service] = f
			a.log.Warn("this node cannot do a service; it is not claimed until that changes", "service", service, "fault", f.code, "error", f.message)
		default:
			continue
		}
		a.tellFaults()
	}
}

// diskLoop remembers when the disk was full while work ran.
func (a *Agent) diskLoop(ctx context.Context) {
	for loop.Wait(ctx, diskEvery, nil) {
		a.mu.Lock()
		busy := len(a.held) > 0
		a.mu.Unlock()
		if left, ok := space(a.config.Dir); busy && ok && left < fullMost {
			a.fullAt.Store(int64(uptime.Now()))
		}
	}
}

// nodeFault returns what broke on the node while the work ran, if that may be why the work
// failed. A full disk often has no other sign than an exit code, because the work's own
// message would have gone to the same disk.
func (at *attempt) nodeFault(e evidence) *driver.Broken {
	a := at.agent
	if e.cause != nil || e.err == nil && e.exit.Code == 0 {
		return nil
	}
	if b := driver.BrokenBy(e.err); b != nil {
		return b
	}
	if at.own && errors.Is(e.err, driver.ErrNoProgram) {
		return &driver.Broken{Fault: node.NoDriver, Err: e.err}
	}
	if !e.begun {
		return nil
	}
	what := withLast(describe(e.exit), e.last)
	if e.err != nil {
		what = e.err.Error()
	}
	if e.exit.Fault != "" {
		return &driver.Broken{Fault: e.exit.Fault, Err: errors.New(what)}
	}
	if _, err := os.Stat(string(at.dir)); errors.Is(err, fs.ErrNotExist) {
		return &driver.Broken{Fault: node.FolderGone, Err: fmt.Errorf("the folder of the attempt is gone: %s", what)}
	}
	left, ok := space(string(at.dir))
	fullAt := time.Duration(a.fullAt.Load())
	if ok && left < fullMost || fullAt > at.claimed && uptime.Now()-fullAt < fullWithin {
		return &driver.Broken{Fault: node.DiskFull, Err: fmt.Errorf("%w: %s", full(a.config.Dir, left).Err, what)}
	}
	return nil
}

// full is the fault of a disk that has no room.
func full(dir string, left uint64) *driver.Broken {
	return &driver.Broken{Fault: node.DiskFull, Err: fmt.Errorf("%d bytes are left for %s", left, dir)}
}

// folderFault is the fault of a folder that cannot be made or written.
func folderFault(err error) *driver.Broken {
	if b := driver.BrokenBy(err); b != nil {
		return b
	}
	return &driver.Broken{Fault: node.FolderGone, Err: err}
}
