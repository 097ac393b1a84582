//go:build chaos && unix

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestLongFleet lets blows fall on the PCs of a troubled fleet for five minutes, or for
// WEIR_CHAOS if that is less, as the seed says. Then everything ends, and the doctor
// reports no fault:
//
//	WEIR_CHAOS=5m go test -tags chaos -run LongFleet -v ./chaos
func TestLongFleet(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("WEIR_CHAOS"))
	if err != nil {
		t.Fatalf("WEIR_CHAOS must be a duration such as 30m: %v", err)
	}
	seed := rand.Uint64N(1_000_000)
	if text := os.Getenv("WEIR_CHAOS_SEED"); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("WEIR_CHAOS_SEED must be a number: %v", err)
		}
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	h := newHall(t)
	var places []*workplace
	for i := range 4 {
		places = append(places, h.pc(fmt.Sprintf("PC-%02d", i+1), "--slots", "20", "--simulate", "30", "--simulate-seed", strconv.FormatUint(seed+uint64(i), 10), "--simulate-time", "1s-20s",
			"--simulate-fail", "0.03", "--simulate-infra", "0.02", "--simulate-hang", "0.005", "--simulate-flap", "0.02", "--simulate-hub-flap", "0.02", "--simulate-bad", "0.02"))
	}
	h.fleet(120, fleetWork)
	for until := time.Now().Add(min(length, 5*time.Minute)); time.Now().Before(until); h.pass(time.Duration(rng.IntN(5000)) * time.Millisecond) {
		if h.count(`select count(*) from weir.fleet_jobs where state <> 'ended'`) < 2 {
			h.exec(`select weir.fleet_submit('storm', $1)`, "{"+fleetWork+"}")
		}
		w := places[rng.IntN(len(places))]
		away := time.Duration(rng.IntN(45)) * time.Second
		if rng.IntN(2) == 0 {
			t.Logf("%s: kill -9, back after %s", w.name, away)
			w.kill()
			h.pass(away)
			w.start()
		} else {
			t.Logf("%s: SIGSTOP for %s", w.name, away)
			h.signal(w.process, syscall.SIGSTOP)
			h.pass(away)
			h.signal(w.process, syscall.SIGCONT)
		}
		if found := h.run.doctor(); len(found) > 0 {
			t.Fatalf("%s", Report(found))
		}
	}
	if !h.within(10*time.Minute, func() bool { return h.count(`select count(*) from weir.fleet_jobs where state <> 'ended'`) == 0 }) {
		t.Errorf("jobs did not end: %s", h.units())
	}
	if n := h.count(`select count(*) from weir.fleet_units where state in ('waiting', 'running', 'retrying')`); n > 0 {
		t.Errorf("%d units did not end", n)
	}
	t.Logf("%s; %d leases were lost, %d late reports refused", h.units(), h.count(`select count(*) from weir.events where type = 'expired'`), h.count(`select count(*) from weir.events where type = 'stale'`))
	h.concludes(places...)
}

const fleetWork = `"run": {"argv": ["true"]}, "target": {"all": true}, "repeat": 2, "timeout": "40s", "backoff": "1s", "linger": "5s"`
