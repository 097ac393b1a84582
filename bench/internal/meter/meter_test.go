package meter

import (
	"math"
	"testing"
	"time"
)

func TestCost(t *testing.T) {
	start := time.Unix(0, 0)
	before := Reading{At: start, LSN: 1000, Postgres: time.Second, Known: true, Client: time.Second}
	after := Reading{At: start.Add(2 * time.Second), LSN: 5000, Postgres: 3 * time.Second, Known: true, Client: 2 * time.Second}
	c := after.Since(before)
	for name, pair := range map[string][2]float64{
		"rate":     {c.Rate(100), 50},
		"wal":      {c.WALPer(100), 40},
		"postgres": {c.PostgresPer(100), 20_000},
		"client":   {c.ClientPer(100), 10_000},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s = %v, want %v", name, pair[0], pair[1])
		}
	}
	if sum := c.Plus(c); sum.WAL != 8000 || sum.Elapsed != 4*time.Second || !sum.Known {
		t.Errorf("sum = %+v", sum)
	}
}

func TestUnknownServerCPUIsNotZero(t *testing.T) {
	c := Reading{}.Since(Reading{Known: true})
	if !math.IsNaN(c.PostgresPer(10)) {
		t.Errorf("server CPU per job = %v, want NaN", c.PostgresPer(10))
	}
}
