package lab

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
)

// pc is a PC and its agent.
type pc struct {
	lab     *lab
	name    string
	devices []*device
	// slots is how many slots a person or the policy allows.
	slots int
	// up is set while the agent lives. cut is set while it lives and works, but is not
	// heard.
	up, cut bool
	// known is set after the first report of devices.
	known bool
	// life counts the starts of the agent: what an earlier one began is void.
	life int
	held map[weir.ID]*attempt
	// asks is set while the PC is about to ask for work. since is from when on there may
	// have been some.
	asks  bool
	since time.Duration
}

// attempt is work on a device.
type attempt struct {
	leased
	pc     *pc
	device *device
	fate   fate
	// over is set when the program has ended or was killed.
	over bool
	// unheard is set if the PC was cut off in the meantime.
	unheard bool
}

// hears reports whether the agent lives and is heard.
func (p *pc) hears() bool { return p.up && !p.cut }

// later schedules an action of the agent, which is dropped if the agent dies before.
func (p *pc) later(d time.Duration, do func()) {
	life := p.life
	p.lab.in(d, func() {
		if p.life == life && p.hears() {
			do()
		}
	})
}

// start starts the agent: it looks for devices and asks for work.
func (p *pc) start() {
	p.up, p.cut, p.asks = true, false, false
	p.life++
	p.later(p.lab.between(time.Millisecond, 2*time.Second), p.beat)
}

// beat renews the leases of the PC, reports its devices, and asks for work.
func (p *pc) beat() {
	l := p.lab
	if held := p.list(); len(held) > 0 {
		for _, no := range l.renew(p.name, held) {
			a := p.held[no.Task]
			if no.Refusal == "cancel" {
				p.later(l.between(time.Millisecond, 5*time.Second), func() { p.report(a, canceled) })
				continue
			}
			p.lost(a)
		}
	}
	p.look()
	p.ask(0)
	p.later(l.beat, p.beat)
}

// list returns the held attempts in a reproducible order.
func (p *pc) list() []*attempt {
	return slices.SortedFunc(maps.Values(p.held), func(a, b *attempt) int { return strings.Compare(a.Serial, b.Serial) })
}

// lost handles a lost lease: a report of the attempt would not be accepted.
func (p *pc) lost(a *attempt) {
	if a == nil || p.held[a.Task] != a {
		return
	}
	if !a.unheard && p.lab.time().After(a.Deadline) {
		p.lab.ledger.of(a).timeouts++
		p.lab.story.timeouts++
	} else {
		// The PC was away, or the device disappeared: the database has judged by itself.
		p.lab.ledger.of(a).unsure++
		p.lab.story.lost++
	}
	p.drop(a)
}

func (p *pc) drop(a *attempt) {
	a.over = true
	if p.held[a.Task] == a {
		delete(p.held, a.Task)
	}
	if a.device.runs == a {
		a.device.runs = nil
	}
	p.lab.meter.look(p)
}

// look reports the present devices. Attempts that must stop then are stopped; other
// attempts on a device that is gone were broken by it.
func (p *pc) look() {
	l := p.lab
	there := []node.Device{}
	for _, d := range p.devices {
		if d.here {
			there = append(there, d.Device)
		}
	}
	stops := l.report(p.name, there)
	p.known = true
	for _, s := range stops {
		a := p.held[s.Task]
		if a == nil || a.Attempt != s.Attempt {
			continue
		}
		if strings.Contains(s.Why, " at once") {
			l.ledger.of(a).forgiven++
			l.story.forgiven++
		} else {
			l.ledger.of(a).infra++
			l.story.ends[breaks]++
		}
		p.drop(a)
	}
	for _, a := range p.list() {
		if a.over || !a.device.here {
			p.report(a, breaks)
		}
	}
}

// ask asks for work after a moment, once.
func (p *pc) ask(told time.Duration) {
	if p.asks || !p.known || !p.hears() || len(p.held) >= p.slots {
		return
	}
	p.asks, p.since = true, told
	p.later(p.lab.between(50*time.Millisecond, 500*time.Millisecond), p.claim)
}

// claim takes the work that it gets, and starts it.
func (p *pc) claim() {
	l := p.lab
	p.asks = false
	room := p.slots - len(p.held)
	if room <= 0 {
		return
	}
	got := l.claim(p.name, room)
	if len(got) > 0 && len(p.held)+len(got) > p.slots {
		l.fault("%s has %d slots, holds %d and got %d", p.name, p.slots, len(p.held), len(got))
	}
	l.meter.late(p, len(got))
	for _, g := range got {
		p.begin(g)
		l.meter.look(p)
	}
}

func (p *pc) begin(g leased) {
	l := p.lab
	d := l.devices[g.Serial]
	a := &attempt{leased: g, pc: p, device: d}
	if d.runs != nil && !d.runs.over {
		l.fault("%s got %s while attempt %d of %s runs on it", p.name, g.Serial, d.runs.Attempt, d.runs.Task)
	}
	if !slices.Contains(p.devices, d) && d.here {
		l.fault("%s got %s, which hangs on %s", p.name, g.Serial, d.pc.name)
	}
	if was := p.held[g.Task]; was != nil {
		if !was.over {
			l.fault("%s holds attempt %d of %s and got attempt %d", p.name, was.Attempt, g.Task, g.Attempt)
		}
		p.lost(was)
	}
	l.ledger.began(l, a)
	l.story.attempts++
	p.held[g.Task], d.runs = a, a
	var after time.Duration
	a.fate, after = l.fateOf(a)
	if !d.here {
		// The device disappeared since the last look.
		p.later(time.Second, p.look)
		return
	}
	l.in(after, func() { p.ends(a) })
}

// ends ends the program as its fate says. A PC that is cut off reports it when it is
// heard again.
func (p *pc) ends(a *attempt) {
	if a.over {
		return
	}
	if p.cut || a.fate == hangs && p.lab.chance(0.5) {
		// An agent kills a hanging program before its deadline. Its report is lost on the
		// way, and the database ends the attempt by itself.
		a.over = true
		p.lab.meter.look(p)
		return
	}
	p.report(a, a.fate)
	p.ask(p.lab.now)
}

// report reports the end of an attempt. It is accepted from the holder of the lease;
// otherwise it is refused, and there must be a reason.
func (p *pc) report(a *attempt, how fate) {
	if a == nil || p.held[a.Task] != a {
		return
	}
	l := p.lab
	said := l.end(a, how)
	l.ledger.ended(l, a, how, said)
	if said == "ok" {
		l.story.ends[how]++
		p.drop(a)
		return
	}
	l.story.refused++
	p.lost(a)
}

// falls makes the agent die with all its work, or cuts it off for a while.
func (p *pc) falls() {
	l := p.lab
	if !p.hears() {
		return
	}
	away := l.between(10*time.Second, 10*time.Minute)
	if l.chance(0.5) {
		p.cut = true
		l.story.cuts++
		for _, a := range p.held {
			a.unheard = true
		}
		l.meter.look(p)
		l.in(away, p.heard)
		return
	}
	l.story.deaths++
	p.up = false
	for _, a := range p.list() {
		l.ledger.of(a).unsure++
		l.story.lost++
		a.over = true
		a.device.runs = nil
	}
	clear(p.held)
	l.meter.look(p)
	l.in(away, p.start)
}

// heard restores the connection. Attempts that ended in the meantime are reported late.
func (p *pc) heard() {
	p.cut, p.asks = false, false
	p.life++
	for _, a := range p.list() {
		if a.over {
			p.report(a, a.fate)
		}
	}
	p.beat()
}

// slows makes a person lower the slots of the PC for a while.
func (p *pc) slows() {
	l := p.lab
	if p.slots < l.slots || !p.known {
		return
	}
	set := func(n int, slots any) {
		p.slots = n
		l.exec(`select weir.set_slots($1, $2, 'ann', at => $3)`, p.name, slots, l.time())
		l.meter.look(p)
	}
	set(l.slots/2, l.slots/2)
	l.in(l.between(5*time.Minute, 20*time.Minute), func() { set(l.slots, nil) })
}
