//go:build unix

package chaos

import (
	"syscall"
	"testing"
	"time"
)

// TestFleetPCKilled kills the agent of a PC with -9 while 20 devices work. All 20 are
// back within 60 s, its keeper has ended the running work, late reports are refused and
// recorded, and nothing is charged: the PC comes back, and everything is done.
func TestFleetPCKilled(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	file, _ := h.listed("PC-01", 7, 17)
	pc := h.pc("PC-01", "--slots", "20", "--devices", file)
	h.fleet(24, h.program())
	h.wait("20 devices work", func() bool { return h.running() == 20 && h.marks("begun") == 20 })
	held := h.leases()

	pc.kill()
	killed := time.Now()
	if !h.within(time.Minute, func() bool { return h.running() == 0 }) {
		t.Fatalf("%d still count as running a minute after their PC died", h.running())
	}
	t.Logf("measured: kill -9 of a PC → all 20 are back in %.1f s (lease 30 s)", time.Since(killed).Seconds())
	h.become("20 retrying, 4 waiting")
	h.gone(pc)
	for _, l := range held {
		var said string
		if err := h.pool.QueryRow(h.ctx, `select weir.finish($1, $2, $3)`, l.Task, l.Attempt, l.Token).Scan(&said); err != nil || said != "lease_lost" {
			t.Fatalf("a late report was answered with %q %v", said, err)
		}
	}
	if n := h.count(`select count(*) from weir.events where type = 'stale' and data ->> 'op' = 'finish'`); n != 20 {
		t.Errorf("%d late reports are recorded", n)
	}

	h.letGo()
	pc.start()
	h.become("24 done")
	if n := h.count(`select count(*) from weir.fleet_units u join weir.finished f on f.task = u.task where f.attempt = 2`); n != 20 {
		t.Errorf("%d were done by a second attempt", n)
	}
	h.nobodyPaid()
	h.concludes(pc)
}

// TestFleetPCPaused stops the agent of a PC until its leases are over, while its work
// ends. Its reports after that are refused and recorded, and each device is served once
// more, by the same agent.
func TestFleetPCPaused(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	file, _ := h.listed("PC-01", 0, 3)
	pc := h.pc("PC-01", "--devices", file)
	h.fleet(3, h.program())
	h.wait("3 devices work", func() bool { return h.running() == 3 && h.marks("begun") == 3 })
	held := h.leases()
	h.signal(pc.process, syscall.SIGSTOP)
	h.letGo()
	h.wait("the work has ended, and nobody sees it", func() bool { return h.marks("ended") == 3 })
	// The lease is ended here, as it would be half a minute later.
	h.exec(`update weir.running set until = clock_timestamp() - interval '1 s' where device is not null`)
	h.become("3 retrying")
	h.signal(pc.process, syscall.SIGCONT)
	h.become("3 done")
	for _, l := range held {
		if n := h.count(`select count(*) from weir.events where task = $1 and attempt = $2 and type = 'stale'`, l.Task, l.Attempt); n == 0 {
			t.Errorf("nothing is recorded of what the agent said about attempt %d of %s", l.Attempt, l.Task)
		}
	}
	if n := h.count(`select count(*) from weir.fleet_units u join weir.finished f on f.task = u.task where f.attempt = 2`); n != 3 {
		t.Errorf("%d were done by a second attempt", n)
	}
	h.nobodyPaid()
	h.concludes(pc)
}

// TestFleetHubLost takes a hub with seven working devices from a PC. The PC is paused,
// the seven runs are given back and their programs killed, no device is punished and no
// budget spent; the other devices continue.
func TestFleetHubLost(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	file, rewrite := h.listed("PC-01", 7, 8)
	pc := h.pc("PC-01", "--devices", file)
	h.fleet(15, h.program())
	h.wait("15 devices work", func() bool { return h.running() == 15 && h.marks("begun") == 15 })

	rewrite(false)
	h.become("7 retrying, 8 running")
	if n := h.count(`select count(*) from weir.pcs where paused_until > clock_timestamp()`); n != 1 {
		t.Error("the PC is not paused")
	}
	h.wait("the programs of the seven are killed", func() bool { return len(must(Remains(pc.dir, true))(t)) <= 2*8 })
	h.nobodyPaid()

	rewrite(true)
	h.wait("they are back", func() bool {
		return h.count(`select count(*) from weir.devices where online and missing_at is null`) == 15
	})
	h.exec(`update weir.pcs set paused_until = clock_timestamp()`) // two minutes are long
	h.letGo()
	h.become("15 done")
	h.nobodyPaid()
	h.concludes(pc)
}

// must is for calls that fail only because of the machine.
func must[V any](v V, err error) func(t *testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestFleetBadJob runs a job that fails everywhere on 40 good devices: it is stopped, and
// no device is worse for it. All of them do the next job.
func TestFleetBadJob(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	one := h.pc("PC-01", "--simulate", "20", "--simulate-time", "50ms-200ms")
	two := h.pc("PC-02", "--simulate", "20", "--simulate-time", "50ms-200ms")
	const rest = `"run": {"argv": ["true"]}, "target": {"all": true}, "backoff": "0s"`
	bad := h.fleet(40, `"params": {"simulate": {"fail": 1}}, `+rest)
	h.wait("the bad job has ended", func() bool {
		return h.count(`select count(*) from weir.fleet_jobs where job = $1 and state = 'ended' and stopped is not null`, bad) == 1
	})
	if n := h.count(`select count(*) from weir.devices where health in ('suspect', 'quarantined')`); n > 0 {
		t.Errorf("%d devices were punished", n)
	}
	if n := h.count(`select count(*) from weir.fleet_units where job = $1 and state = 'done'`, bad); n > 0 {
		t.Errorf("%d runs of a job that fails everywhere are done", n)
	}
	good := h.fleet(40, rest)
	h.wait("the next job is done by all", func() bool {
		return h.count(`select count(*) from weir.fleet_units where job = $1 and state = 'done'`, good) == 40
	})
	h.concludes(one, two)
}
