package lab

import (
	"testing"
	"time"
)

// TestTwoDevicesFlap simulates an hour of a PC with six devices, two of which come and go
// every five seconds. They break what runs on them and nothing else: the other four work,
// and jobs follow one another.
func TestTwoDevicesFlap(t *testing.T) {
	l := newLab(t, config{seed: 1, pcs: 1, slots: 20, devices: 6, hub: 6, length: time.Hour, beat: 10 * time.Second, pace: 0.1})
	l.exec(`select weir.set_fleet_policy('{"policy": "evidence"}', 'ann', at => $1)`, l.time())
	p := l.pcs[0]
	p.start()
	l.lead()
	l.watch()
	rounds := kind{job: job{name: "rounds", least: 12 * minute, most: 12*minute + 20*time.Second, attempts: 3, infra: 3}, spec: `"target": {"all": true}, "repeat": 8`}
	var feed func()
	feed = func() {
		for l.queued() < 2 {
			l.submit(rounds)
		}
		l.in(10*time.Second, feed)
	}
	// The devices are known before the first job wants them.
	l.in(5*time.Second, feed)
	flap := func() {
		for _, d := range p.devices[:2] {
			if d.here {
				d.losses++
				d.unplug()
			} else {
				d.here = true
			}
		}
		p.changed()
	}
	l.in(5*time.Second, func() { l.every(5*time.Second, flap) })
	busy, looked := 0, 0
	l.in(15*time.Second, func() {
		l.every(5*time.Second, func() {
			for _, d := range p.devices[2:] {
				looked++
				if d.runs != nil && !d.runs.over {
					busy++
				}
			}
		})
	})
	for l.now < l.length {
		l.next()
	}
	used := float64(busy) / float64(looked)
	var ended int
	l.scan(`select count(*) from weir.fleet_jobs where state = 'ended'`, nil, &ended)
	t.Logf("%.1f %% used, %d jobs ended, %d attempts", 100*used, ended, l.story.attempts)
	if used < 0.95 {
		l.fault("the devices that work were busy for %.1f %% of the time, wanted 95: %s", 100*used, l.whyNot())
	}
	if ended < 4 {
		l.fault("%d jobs ended in an hour: %s", ended, l.whyNot())
	}
	l.quarantines()
}
