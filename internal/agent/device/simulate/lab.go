package simulate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/agent/device"
	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// Name is the name of the driver.
const Name = "simulate"

// Lab has simulated devices.
type Lab struct {
	config Config
	born   time.Time
	busy   sync.WaitGroup

	mu      sync.Mutex
	devices map[string]*phone
	order   []*phone
	stats   Stats
	running int
	closed  bool
}

// phone is one device.
type phone struct {
	node.Device
	// attempts counts the attempts that were started on the device.
	attempts int
	// unplugged is set while a person has unplugged the device, independently of its
	// flaps.
	unplugged bool
	// run is the attempt that runs on the device.
	run *run
}

// Stats counts what happened in a lab.
type Stats struct {
	Started, Done, Failed, Broken, Stopped int
	// Busiest is the highest number of attempts that ran at once.
	Busiest int
	// Overlaps counts attempts that were started on a busy device, which must not happen.
	Overlaps int
}

var (
	_ device.Source = (*Lab)(nil)
	_ driver.Driver = (*Lab)(nil)
)

// New returns a lab. Its age counts from now.
func New(c Config) (*Lab, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	models := []string{"alpha-5", "alpha-6", "beta-1", "gamma-9"}
	l := &Lab{config: c, born: time.Now(), devices: map[string]*phone{}}
	for i := 1; i <= c.Devices; i++ {
		serial := serialOf(c.PC, i)
		p := &phone{Device: node.Device{
			Serial: serial, Target: fmt.Sprintf("sim:%d", i), Hub: fmt.Sprintf("%s/hub-%d", c.PC, (i-1)/hubSize+1),
			Labels: map[string]string{"model": models[c.dice("model", serial).IntN(len(models))], "simulated": "true"},
		}}
		l.devices[serial], l.order = p, append(l.order, p)
	}
	return l, nil
}

func serialOf(pc string, i int) string { return fmt.Sprintf("SIM-%s-%04d", pc, i) }

// Name returns the name of the driver in definitions.
func (l *Lab) Name() string { return Name }

func (l *Lab) String() string { return fmt.Sprintf("%d simulated devices", l.config.Devices) }

// Check returns nil because the driver works everywhere.
func (l *Lab) Check(context.Context) error { return nil }

// Adopt finds nothing because an attempt ends with the agent that runs it.
func (l *Lab) Adopt(context.Context) ([]driver.Found, error) { return nil, nil }

// List returns the devices that are plugged in and not lost at this moment.
func (l *Lab) List(ctx context.Context) (device.Listing, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := device.Listing{Devices: []node.Device{}}
	now := time.Now()
	for _, p := range l.order {
		if !l.lost(p, now) {
			found.Devices = append(found.Devices, p.Device)
		}
	}
	return found, ctx.Err()
}

// lost reports whether a device cannot be reached. The caller holds the mutex.
func (l *Lab) lost(p *phone, now time.Time) bool {
	age := now.Sub(l.born)
	return p.unplugged || l.config.away(p.Serial, l.config.Flap, age) || l.config.away(p.Hub, l.config.HubFlap, age)
}

// Unplug takes devices away until they are plugged in again. Attempts on them break.
func (l *Lab) Unplug(serials ...string) { l.plug(true, serials) }

// Plug brings devices back.
func (l *Lab) Plug(serials ...string) { l.plug(false, serials) }

func (l *Lab) plug(out bool, serials []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, serial := range serials {
		p := l.devices[serial]
		if p == nil {
			continue
		}
		if p.unplugged = out; out && p.run != nil {
			p.run.stir()
		}
	}
}

// Stats returns the counters.
func (l *Lab) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// Close stops the attempts that are left.
func (l *Lab) Close() error {
	l.mu.Lock()
	l.closed = true
	for _, p := range l.order {
		if p.run != nil {
			p.run.cut()
		}
	}
	l.mu.Unlock()
	l.busy.Wait()
	return nil
}

// Start begins an attempt on the device that the work names.
func (l *Lab) Start(_ context.Context, work driver.Work, out driver.Output) (driver.Running, error) {
	if work.Device == nil {
		return nil, problem.Refuse("driver", "submit it as a job of a fleet", "the driver simulate runs work on devices alone")
	}
	config, err := l.config.forJob(work.Params)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.devices[work.Device.Serial]
	switch {
	case l.closed:
		return nil, problem.New(problem.Conflict, "start the agent again", "the lab is closed")
	case p == nil:
		return nil, problem.New(problem.Conflict, "look whether two agents share a name", "%s is no device of this lab", work.Device.Serial)
	case p.run != nil && p.run.mark == work.Mark():
		return p.run, nil
	case p.run != nil:
		l.stats.Overlaps++
		return nil, problem.New(problem.Conflict, "report this: two attempts must never share a device", "%s is busy with %s", p.Serial, p.run.mark)
	case work.Late():
		return nil, driver.ErrLate
	}
	p.attempts++
	l.running++
	l.stats.Started++
	l.stats.Busiest = max(l.stats.Busiest, l.running)
	r := newRun(l, p, work, config.fate(p.Serial, p.attempts), out)
	p.run = r
	l.busy.Go(r.live)
	return r, nil
}

// over records the end of an attempt.
func (l *Lab) over(r *run, e driver.Exit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.phone.run = nil
	l.running--
	switch {
	case e.Code == 0:
		l.stats.Done++
	case e.Infra:
		l.stats.Broken++
	case e.Signal != "":
		l.stats.Stopped++
	default:
		l.stats.Failed++
	}
}
