package lab

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/node"
)

// device is a device as it really is. The database has what Weir believes of it.
type device struct {
	node.Device
	pc *pc
	// here is set if the device is plugged in and can be reached.
	here bool
	// broken is set if nothing succeeds on the device until a person repairs it.
	broken bool
	// gone is set if the device is retired.
	gone bool
	runs *attempt
	// left is when it last went away, and losses is how often it did.
	left   time.Duration
	losses int
}

var models = []string{"alpha-5", "alpha-6", "beta-1"}

// device makes a device and plugs it in.
func (l *lab) device(p *pc, hub string) *device {
	l.made++
	d := &device{pc: p, here: true, Device: node.Device{
		Serial: fmt.Sprintf("D%05d", l.made), Hub: hub, Labels: map[string]string{"model": models[l.made%len(models)], "tag": []string{"day", "night"}[l.made%2]},
	}}
	p.devices = append(p.devices, d)
	l.devices[d.Serial] = d
	return d
}

// hubs returns the hubs of a PC.
func (p *pc) hubs() (list []string) {
	for _, d := range p.devices {
		if d.Hub != "" && !slices.Contains(list, d.Hub) {
			list = append(list, d.Hub)
		}
	}
	return list
}

// anybody returns a random device that is in use.
func (l *lab) anybody() *device {
	for {
		if d := l.devices[fmt.Sprintf("D%05d", 1+l.dice.IntN(l.made))]; !d.gone {
			return d
		}
	}
}

// trouble schedules the faults of devices. Rates are per device, so faults are more
// frequent by the number of devices.
func (l *lab) trouble() {
	many := func(d time.Duration) time.Duration { return d / time.Duration(len(l.devices)) }
	l.often(many(l.flap), func() { l.away(5*time.Second, 90*time.Second, l.anybody()) })
	l.often(many(l.leave), func() { l.away(5*time.Minute, time.Hour, l.anybody()) })
	l.often(many(l.broken), func() {
		if d := l.anybody(); !d.broken {
			d.broken = true
			l.story.broken++
		}
	})
	l.often(many(l.move), l.moves)
}

// away removes devices from their PC for a while. What runs on them breaks, and the agent
// looks.
func (l *lab) away(least, most time.Duration, devices ...*device) {
	var went []*device
	for _, d := range devices {
		if d.here {
			d.left, d.losses = l.now, d.losses+1
			d.unplug()
			went = append(went, d)
		}
	}
	if len(went) == 0 {
		return
	}
	l.story.flaps++
	p := went[0].pc
	p.later(l.between(200*time.Millisecond, 1500*time.Millisecond), p.changed)
	l.in(l.between(least, most), func() {
		for _, d := range went {
			d.here = !d.gone && d.pc == p
		}
		p.later(l.between(time.Millisecond, 5*time.Second), p.changed)
	})
}

// changed is called when the devices of the agent have changed.
func (p *pc) changed() {
	p.look()
	p.lab.meter.look(p)
}

func (d *device) unplug() {
	d.here = false
	if a := d.runs; a != nil && !a.over {
		a.over, a.fate = true, breaks
	}
}

// drops makes a hub lose its power. All its devices disappear at once, and nothing may be
// charged for it: neither health nor a budget of any unit changes with the report.
func (p *pc) drops(hub string) {
	l := p.lab
	var on []*device
	old := false
	for _, d := range p.devices {
		if d.Hub == hub {
			on = append(on, d)
			old = old || d.left > 0 && l.now-d.left < 12*time.Minute
		}
	}
	// A hub that comes and goes is no news, and a PC is not paused for ever.
	if !p.hears() || !p.known || old || l.pauses(p) >= 3 {
		l.away(20*time.Second, 5*time.Minute, on...)
		return
	}
	p.look() // the agent has seen the present devices
	seen := l.online(p, hub)
	l.story.hubs++
	health, tasks := l.health(on), l.on(on)
	had := l.budgets(tasks)
	l.away(20*time.Second, 5*time.Minute, on...)
	p.changed()
	if after := l.health(on); health != after {
		l.fault("hub %s was lost, and devices paid:\n%s\n%s", hub, health, after)
	}
	for task, has := range l.budgets(tasks) {
		if was := had[task]; has.Infra > was.Infra || has.Spent > was.Spent {
			l.fault("hub %s was lost, and a unit paid: %+v, before %+v", hub, has, was)
		}
	}
	if seen >= 2 && !l.paused(p) {
		l.fault("hub %s lost %d devices, and %s is not paused", hub, seen, p.name)
	}
}

// moves plugs a device into another PC.
func (l *lab) moves() {
	d, to := l.anybody(), l.pcs[l.dice.IntN(len(l.pcs))]
	if !d.here || d.pc == to {
		return
	}
	l.story.moves++
	from := d.pc
	d.unplug()
	from.later(l.between(time.Millisecond, 5*time.Second), from.changed)
	l.in(l.between(time.Minute, 10*time.Minute), func() {
		if d.gone {
			return
		}
		from.devices = slices.DeleteFunc(from.devices, func(x *device) bool { return x == d })
		to.devices = append(to.devices, d)
		d.pc, d.Hub, d.here = to, "", true
		to.later(l.between(time.Millisecond, 5*time.Second), to.changed)
	})
}

// fate is how an attempt ends, if nothing intervenes.
type fate string

const (
	succeeds fate = "done"
	fails    fate = "failed"
	breaks   fate = "infra"
	hangs    fate = "hung"
	canceled fate = "canceled"
)

// fateOf decides how an attempt ends, and when.
func (l *lab) fateOf(a *attempt) (fate, time.Duration) {
	limit := a.Deadline.Sub(l.time())
	if a.Job == nil {
		took := l.between(10*time.Second, time.Minute)
		if a.device.broken {
			return fails, took
		}
		return succeeds, took
	}
	j := l.jobs[*a.Job]
	took := l.between(j.least, j.most)
	switch roll := l.dice.Float64(); {
	case j.bad:
		return fails, took / 4
	case a.device.broken && roll < 0.7:
		return fails, took / 2
	case a.device.broken || roll < l.hang:
		return hangs, limit - 2*time.Second
	case roll < l.hang+l.infra:
		return breaks, took / 2
	case roll < l.hang+l.infra+l.config.fail:
		return fails, took / 2
	}
	return succeeds, took
}
