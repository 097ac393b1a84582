package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/device/simulate"
	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
)

const (
	// labLook is how often it is looked whether a fleet job has ended.
	labLook = 2 * time.Second
	// labName is that of the demo's fleet jobs.
	labName = "demo smoke test"
)

// Labs are the PCs of the demo's fleet: their devices are simulated. The seed of the
// last PC makes its third device fail whatever runs on it, so that there is a
// quarantine to see after some minutes.
var Labs = []simulate.Config{
	{PC: "demo-pc-1", Devices: 8, Seed: 1, Fail: 0.05, Infra: 0.03, Shortest: 5 * time.Second, Longest: 20 * time.Second},
	{PC: "demo-pc-2", Devices: 8, Seed: 2, Fail: 0.05, Flap: 0.01, Shortest: 5 * time.Second, Longest: 20 * time.Second},
	{PC: "demo-pc-3", Devices: 6, Seed: 23, Bad: 0.2, Shortest: 5 * time.Second, Longest: 20 * time.Second},
}

// labSlots is how many devices of a PC work at once.
const labSlots = 4

// lab is the fleet of the demo: PCs in the server's own process, and one job for them
// after the other.
type lab struct {
	store  *fleet.Store
	agents []*agent.Agent
	// job is the last one that was submitted; submits ends with the submissions, and
	// then it stays.
	job     weir.ID
	submits sync.WaitGroup
}

// Fleet starts the PCs and begins to submit jobs for their devices. desk speaks for a
// node, dir is where agents keep their own things.
func (d *Demo) Fleet(store *fleet.Store, desk func(name string) agent.Transport, dir string) error {
	l := &lab{store: store}
	for _, config := range Labs {
		phones, err := simulate.New(config)
		if err != nil {
			return err
		}
		home := filepath.Join(dir, config.PC)
		if err := os.MkdirAll(home, 0o700); err != nil {
			return fmt.Errorf("make the agent's folder: %w", err)
		}
		l.agents = append(l.agents, agent.New(agent.Config{
			Transport: desk(config.PC), Dir: home, Log: d.log, Drivers: map[string]driver.Driver{phones.Name(): phones}, Devices: phones, DeviceDriver: phones.Name(), DeviceSlots: labSlots,
			Info: node.Info{Name: config.PC, Labels: map[string]string{"demo": "true"}, Capacity: map[string]int{node.Fleet: labSlots}, Drivers: []string{phones.Name()}},
		}))
	}
	d.lab = l
	for _, a := range l.agents {
		d.group.Go(func() {
			if err := a.Run(context.WithoutCancel(d.life)); err != nil {
				d.log.Warn("a PC of the demo ended", "error", err)
			}
		})
	}
	l.submits.Go(func() {
		var runner loop.Runner
		runner.Log = d.log
		runner.Run(d.life, loop.Loop{Name: "demo fleet", Every: labLook, Tick: l.tick})
	})
	return nil
}

// tick submits a job if the last one has ended, once the PCs have said what hangs
// on them: a job without devices fails.
func (l *lab) tick(ctx context.Context, _ time.Time) (more bool, err error) {
	last, err := l.last(ctx)
	if err != nil || !last.ID.IsZero() && last.EndedAt == nil {
		l.job = last.ID
		return false, err
	}
	there, err := l.store.Devices(ctx, fleet.DeviceFilter{Label: []string{"simulated=true"}}, view.Page{Limit: labDevices()})
	if err != nil || len(there) < labDevices() {
		return false, err
	}
	// Two servers that show the demo submit the same job, once: the one after the last.
	j, err := l.store.Submit(ctx, "demo", labJob(), "demo:fleet:"+last.ID.String())
	l.job = j.ID
	return false, err
}

// last is the newest job of the demo; zero: there was none. People may have submitted
// others of its name.
func (l *lab) last(ctx context.Context) (fleet.Job, error) {
	jobs, err := l.store.Jobs(ctx, fleet.JobFilter{Search: labName}, view.Page{Limit: 20})
	for _, j := range jobs {
		if j.By == "demo" {
			return j, err
		}
	}
	return fleet.Job{}, err
}

// labDevices is how many there are.
func labDevices() (n int) {
	for _, config := range Labs {
		n += config.Devices
	}
	return n
}

// labJob is a test of every simulated device, twice.
func labJob() fleet.Spec {
	linger := node.Span(5 * time.Second)
	return fleet.Spec{
		Name: labName, Run: node.Run{Argv: []string{"smoke-test"}}, Target: fleet.Target{Labels: map[string]string{"simulated": "true"}},
		Repeat: 2, Timeout: node.Span(2 * time.Minute), Linger: &linger, Join: fleet.JoinRunning, Priority: -10,
	}
}

// stop cancels the job that would otherwise wait for devices which are gone, and lets
// the PCs hand back what they hold. The demo's life has ended.
func (l *lab) stop(ctx context.Context) (err error) {
	if l == nil {
		return nil
	}
	l.submits.Wait()
	if !l.job.IsZero() {
		if j, gone := l.store.Job(ctx, l.job); gone == nil && j.EndedAt == nil {
			_, err = l.store.Cancel(ctx, "demo", l.job, "the demo ends")
		}
	}
	for _, a := range l.agents {
		a.Leave()
	}
	return err
}
