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
	// slots are what a person or the policy lets it have.
	slots int
	// up: its agent lives. cut: it lives and works on, but nobody hears it.
	up, cut bool
	// known: it has reported devices once.
	known bool
	// life counts its lives: what an earlier one began is void.
	life int
	held map[weir.ID]*attempt
	// asks: it is about to ask for work. since: from when on there may have been some.
	asks  bool
	since time.Duration
}

// attempt is work on a device.
type attempt struct {
	leased
	pc     *pc
	device *device
	fate   fate
	// over: the program has ended, or was killed.
	over bool
	// unheard: its PC was cut off meanwhile.
	unheard bool
}

// hears reports whether the agent lives and is heard.
func (p *pc) hears() bool { return p.up && !p.cut }

// later lets the agent do something, unless it dies before.
func (p *pc) later(d time.Duration, do func()) {
	life := p.life
	p.lab.in(d, func() {
		if p.life == life && p.hears() {
			do()
		}
	})
}

// start begins a life: it looks, and asks for work.
func (p *pc) start() {
	p.up, p.cut, p.asks = true, false, false
	p.life++
	p.later(p.lab.between(time.Millisecond, 2*time.Second), p.beat)
}

// beat renews what the PC holds, says which devices there are, and asks for work.
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

// list is what it holds, in an order that comes again.
func (p *pc) list() []*attempt {
	return slices.SortedFunc(maps.Values(p.held), func(a, b *attempt) int { return strings.Compare(a.Serial, b.Serial) })
}

// lost is a lease that is gone: nobody waits for what the attempt says.
func (p *pc) lost(a *attempt) {
	if a == nil || p.held[a.Task] != a {
		return
	}
	if !a.unheard && p.lab.time().After(a.Deadline) {
		p.lab.ledger.of(a).timeouts++
		p.lab.story.timeouts++
	} else {
		// It was away, or the device went: the database has judged without us.
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

// look says which devices there are. What must stop then, stops; what else ran on a
// device that is gone was broken by it.
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

// claim takes what it gets, and begins it.
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
		// It went away since the last look.
		p.later(time.Second, p.look)
		return
	}
	l.in(after, func() { p.ends(a) })
}

// ends: the program has ended, as its fate is. Nobody hears of it from a PC that is
// cut off, until it is heard again.
func (p *pc) ends(a *attempt) {
	if a.over {
		return
	}
	if p.cut || a.fate == hangs && p.lab.chance(0.5) {
		// An agent kills what hangs before its deadline. What it says is lost on the way:
		// the database ends the attempt by itself.
		a.over = true
		p.lab.meter.look(p)
		return
	}
	p.report(a, a.fate)
	p.ask(p.lab.now)
}

// report tells the end of an attempt. Who holds the lease is heard; else it is
// refused, and there must be a reason.
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

// falls: the agent dies with all that it runs, or nobody hears it for a while.
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

// heard: the connection is back. What ended meanwhile is told late.
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

// slows: a person lets the PC do less for a while.
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
