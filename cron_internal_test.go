package weir

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/engine"
)

// The coordinator reads the same schedules with code of its own; both must say
// the same, also where clocks change.
func TestCronAgreesWithTheCoordinator(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(f field) string {
		n := func() int { return f.least + r.IntN(min(f.most, 28)-f.least+1) }
		a, b := n(), n()
		if f.most == 7 {
			a, b = a%7, b%7
		}
		return []string{"*", "*", fmt.Sprint(a), fmt.Sprintf("*/%d", 1+r.IntN(9)), fmt.Sprintf("%d-%d", min(a, b), max(a, b)), fmt.Sprintf("%d,%d", a, b)}[r.IntN(6)]
	}
	zones := []string{"", "Europe/Budapest", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Seoul"}
	for range 3000 {
		parts := make([]string, len(fields))
		for i, f := range fields {
			parts[i] = pick(f)
		}
		s := Schedule{Spec: strings.Join(parts, " "), Zone: zones[r.IntN(len(zones))]}
		at := time.Unix(1_400_000_000+r.Int64N(500_000_000), 0).UTC()
		for range 3 {
			want, err1 := engine.Next(s.Spec, s.Zone, at)
			got, err2 := s.Next(at)
			if (err1 == nil) != (err2 == nil) || !want.Equal(got) {
				t.Fatalf("seed %d: %q in %q after %s: %s, %v; the coordinator says %s, %v", seed, s.Spec, s.Zone, at, got, err2, want, err1)
			}
			if at = got; err1 != nil {
				break
			}
		}
	}
}

func TestCronRefusesNonsense(t *testing.T) {
	for _, line := range []string{"", "* * * *", "60 * * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "x * * * *", "1- * * * *", "-1 * * * *", "@sometimes"} {
		if _, err := parseCron(line); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
	if _, err := (Schedule{Spec: "0 0 31 2 *"}).Next(time.Now()); err == nil {
		t.Error("31 February is accepted")
	}
}

func FuzzCron(f *testing.F) {
	f.Add("*/5 1-3 * jan mon")
	f.Fuzz(func(t *testing.T, line string) {
		c, err := parseCron(line)
		if err != nil {
			return
		}
		at := time.Unix(1_700_000_000, 0).UTC()
		if next := c.next(at); !next.IsZero() && !next.After(at) {
			t.Errorf("%q goes back to %s", line, next)
		}
	})
}

func TestDueRuns(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	for _, c := range []struct {
		missed   Missed
		was, now time.Time
		runs     []int
		next     int
	}{
		{MissedOne, at(10), at(5), nil, 10},
		{MissedOne, at(10), at(10), []int{10}, 20},
		{MissedOne, at(10), at(35), []int{30}, 40},
		{MissedAll, at(10), at(35), []int{10, 20, 30}, 40},
		{MissedSkip, at(10), at(35), nil, 40},
		{MissedSkip, at(10), at(30), []int{30}, 40},
	} {
		s := Schedule{Spec: "*/10 * * * *", Missed: c.missed}
		runs, next, err := s.Due(c.was, c.now)
		var want []time.Time
		for _, m := range c.runs {
			want = append(want, at(m))
		}
		if err != nil || fmt.Sprint(runs) != fmt.Sprint(want) || !next.Equal(at(c.next)) {
			t.Errorf("%s %s..%s: %s, next %s, %v", c.missed, c.was, c.now, runs, next, err)
		}
	}
	for _, spec := range []string{"@every 1s", "* * * * *"} {
		now := at(0).AddDate(0, 1, 0)
		runs, next, err := Schedule{Spec: spec, Missed: MissedAll}.Due(at(0), now)
		if err != nil || len(runs) != missedLimit || !runs[len(runs)-1].Equal(now) || !next.After(now) {
			t.Errorf("%s: %d runs at once, next %s, %v", spec, len(runs), next, err)
		}
	}
}
