//go:build chaos && unix

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// roundLength is how long faults happen before a round is judged.
const roundLength = 40 * time.Second

// TestLong mixes all faults, round after round, for the duration in WEIR_CHAOS: with an
// even seed tasks on workers, each round on its own server, with an odd one workflows on
// machines. A round that fails prints the command that repeats it: the same tasks and
// faults in the same order, though not the same interleaving.
func TestLong(t *testing.T) {
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
	for until := time.Now().Add(length); time.Now().Before(until) && !t.Failed(); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("repeat it with: WEIR_CHAOS=1s WEIR_CHAOS_SEED=%d go test -tags chaos -run Long -v ./chaos", seed)
				}
			}()
			round := min(roundLength, max(length, 10*time.Second))
			if seed%2 == 1 {
				longStorm(t, seed, round)
				return
			}
			r, server := newServerRun(t)
			m := newMix(r, seed)
			m.server = server
			m.judged(round)
		})
	}
}

// longStorm lets blows fall on machines and on the leading server, as the seed says,
// while workflows run.
func longStorm(t *testing.T, seed uint64, length time.Duration) {
	rng := rand.New(rand.NewPCG(seed, 0))
	s := newStorm(t, newRun(t))
	s.serve()
	servers := []*Agent{s.conductor("server-0"), s.conductor("server-1")}
	var machines []*machine
	for i := range 4 {
		machines = append(machines, s.machine(fmt.Sprintf("machine-%d", i), []string{"sql", "https"}[i%2]))
	}
	const steps = 100
	s.put(map[string]any{"name": "storm", "steps": s.steps(steps, 20)})
	for n, until := 0, time.Now().Add(length); time.Now().Before(until); n++ {
		if s.live() == 0 {
			s.begin("storm")
		}
		if leader := s.leaderOf(servers); leader != nil && rng.IntN(4) == 0 {
			leader.Stop()
			i := slices.Index(servers, leader)
			servers[i] = s.conductor(fmt.Sprintf("server-%d", n+2))
		}
		rng.Shuffle(len(machines), func(i, j int) { machines[i], machines[j] = machines[j], machines[i] })
		b := blows[rng.IntN(len(blows))]
		victims := machines[:1+rng.IntN(2)]
		for _, m := range victims {
			t.Logf("%s: %s", m.orders.Name, b.name)
		}
		s.strike(b, victims...)
	}
	s.heal()
	if found := append(s.clears(steps), s.remains(machines...)...); len(found) > 0 {
		t.Error(Report(found))
	}
	t.Logf("%d jobs", len(s.jobs))
}
