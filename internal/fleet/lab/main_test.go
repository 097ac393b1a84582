package lab

import (
	"cmp"
	"flag"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testdb"
)

var seedFlag = flag.Uint64("seed", 0, "the seed of the lab, to repeat a day")

func TestMain(m *testing.M) { testdb.Main(m) }

// small configures a lab that fits between other tests: everything happens in it, more
// often than in a real one.
func small(seed uint64, length time.Duration) config {
	return config{
		seed: seed, pcs: 4, slots: 8, devices: 12, hub: 5, length: length, beat: 40 * time.Second, pace: 0.25,
		fail: 0.03, infra: 0.02, hang: 0.01,
		flap: 3 * time.Hour, leave: 24 * time.Hour, drop: time.Hour, die: time.Hour, broken: 20 * time.Hour, move: 40 * time.Hour,
		maintain: 40 * time.Hour, retire: 60 * time.Hour, cancel: 30 * time.Minute, slow: 2 * time.Hour,
	}
}

// TestLab simulates 80 minutes of a small lab, always the same ones.
func TestLab(t *testing.T) {
	l := newLab(t, small(cmp.Or(*seedFlag, 3), 80*time.Minute))
	l.live()
	l.judge()
}

// TestSameSeedSameDay checks that a day can be repeated, because a finding is useful only
// if it can.
func TestSameSeedSameDay(t *testing.T) {
	var days []string
	for range 2 {
		c := small(7, 30*time.Minute)
		c.pcs = 2
		l := newLab(t, c)
		l.live()
		days = append(days, l.day())
	}
	if days[0] != days[1] {
		t.Errorf("one seed gave two days:\n%s\n%s", days[0], days[1])
	}
}
