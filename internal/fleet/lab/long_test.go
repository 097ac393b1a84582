//go:build chaos

package lab

import (
	"cmp"
	"math/rand/v2"
	"testing"
	"time"
)

// TestLongLab simulates a day of 50 PCs with 30 devices each. It takes long:
//
//	go test -tags chaos -run LongLab -timeout 90m -v ./internal/fleet/lab
func TestLongLab(t *testing.T) {
	l := newLab(t, config{
		seed: cmp.Or(*seedFlag, 1+rand.Uint64N(1_000_000)), pcs: 50, slots: 20, devices: 30, hub: 7, length: 24 * time.Hour, beat: 40 * time.Second,
		fail: 0.02, infra: 0.01, hang: 0.003,
		flap: 12 * time.Hour, leave: 120 * time.Hour, drop: 24 * time.Hour, die: 12 * time.Hour, broken: 400 * time.Hour, move: 600 * time.Hour,
		maintain: 400 * time.Hour, retire: 2000 * time.Hour, cancel: 4 * time.Hour, slow: 48 * time.Hour,
	})
	t.Logf("seed %d", l.seed)
	l.live()
	l.judge()
}
