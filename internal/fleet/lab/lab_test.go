package lab

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// config configures a lab. Durations are how far apart something happens on average: to
// each device, hub or PC, or in the whole lab.
type config struct {
	seed                     uint64
	pcs, slots, devices, hub int
	length, beat             time.Duration
	// pace scales the length of runs and their limit. Zero means that runs take 5 to 18
	// min, at most 20.
	pace                      float64
	fail, infra, hang         float64       // shares of attempts
	flap, leave, broken, move time.Duration // each device
	drop                      time.Duration // each hub
	die, slow                 time.Duration // each PC
	maintain, retire          time.Duration // each device
	cancel                    time.Duration // the lab
}

// lease is how long work stays with a PC that is not heard from.
const lease = time.Minute

// lab is a lab on a real database.
type lab struct {
	*testing.T
	config
	*desk
	dice *rand.Rand
	// now is the time since the lab began.
	now   time.Duration
	queue queue

	pcs     []*pc
	devices map[string]*device
	made    int // devices so far
	jobs    map[weir.ID]*job
	// tended counts the leader's turns. over is set when nothing is left to do.
	tended int
	over   bool
	ledger ledger
	meter  meter
	story  story
	faults []string
	began  time.Time
}

// newLab builds a lab: PCs with devices, most of them on hubs.
func newLab(t *testing.T, c config) *lab {
	t.Helper()
	l := &lab{
		T: t, config: c, dice: rand.New(rand.NewPCG(c.seed, 0)), devices: map[string]*device{}, jobs: map[weir.ID]*job{}, ledger: ledger{},
		meter: newMeter(c.length), story: newStory(), began: time.Now(),
	}
	l.desk = newDesk(l)
	for i := range c.pcs {
		p := &pc{lab: l, name: fmt.Sprintf("PC-%02d", i+1), slots: c.slots, held: map[weir.ID]*attempt{}}
		l.pcs = append(l.pcs, p)
		for k := range c.devices {
			hub := ""
			if k < c.devices*3/4/c.hub*c.hub {
				hub = fmt.Sprintf("%s/hub-%d", p.name, k/c.hub+1)
			}
			l.device(p, hub)
		}
	}
	return l
}

// fault records a violation. The lab stops after many.
func (l *lab) fault(format string, args ...any) {
	l.Helper()
	text := fmt.Sprintf("%s: ", l.clock()) + fmt.Sprintf(format, args...)
	if l.faults = append(l.faults, text); len(l.faults) > 20 {
		l.Fatalf("seed %d: too much is wrong: %q", l.seed, l.faults)
	}
	l.Errorf("seed %d: %s", l.seed, text)
}

// clock returns the time in the lab.
func (l *lab) clock() string {
	return fmt.Sprintf("%02d:%02d:%02d", int(l.now.Hours()), int(l.now.Minutes())%60, int(l.now.Seconds())%60)
}

// advance lets the time pass to the next event, with the meter running.
func (l *lab) advance(to time.Duration) {
	l.meter.run(l, to)
	l.now = to
}

// live runs the day. Then people cancel the jobs that have not begun, and the rest must
// end.
func (l *lab) live() {
	l.Helper()
	l.begin()
	for l.now < l.length {
		l.next()
	}
	l.close()
	for end := l.length + 12*time.Hour; !l.over; l.next() {
		if l.now > end {
			l.fault("jobs did not end within 12 h: %s", l.whyNot())
			return
		}
	}
}

// begin starts everything that happens by itself.
func (l *lab) begin() {
	l.rules(0)
	for _, p := range l.pcs {
		p.start()
		l.often(l.die, p.falls)
		l.often(l.slow, p.slows)
		for _, hub := range p.hubs() {
			l.often(l.drop, func() { p.drops(hub) })
		}
	}
	l.trouble()
	l.people()
	l.lead()
	l.watch()
}
