package weir

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	robfig "github.com/robfig/cron/v3"
)

// The parser everybody uses agrees, away from changes of the clocks: there it has
// rules of its own.
func TestCronAgreesWithRobfig(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	one := func(f field) string {
		n := func() int { return f.least + r.IntN(min(f.most, 28)-f.least+1) }
		a, b := n(), n()
		if f.most == 7 {
			a, b = a%7, b%7 // to robfig, Sunday is 0 only
		}
		return []string{
			"*", "*", "?", fmt.Sprint(a), fmt.Sprintf("*/%d", 1+r.IntN(9)), fmt.Sprintf("%d/%d", a, 1+r.IntN(90)),
			fmt.Sprintf("%d-%d", min(a, b), max(a, b)), fmt.Sprintf("%d-%d/%d", min(a, b), max(a, b), 1+r.IntN(4)),
		}[r.IntN(8)]
	}
	oracle := robfig.NewParser(robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)
	zones := []string{"", "Europe/Budapest", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Seoul"}
	const lines, day = 3000, 24 * time.Hour
	compared := 0
	for range lines {
		parts := make([]string, len(fields))
		for i, f := range fields {
			if parts[i] = one(f); r.IntN(4) == 0 {
				parts[i] += "," + one(f)
			}
		}
		s := Schedule{Spec: strings.Join(parts, " "), Zone: zones[r.IntN(len(zones))]}
		parsed, err := oracle.Parse(s.Spec)
		if err != nil {
			t.Fatalf("seed %d: robfig refuses %q: %v", seed, s.Spec, err)
		}
		zone, err := time.LoadLocation(s.Zone)
		if err != nil {
			t.Fatal(err)
		}
		parsed.(*robfig.SpecSchedule).Location = zone
		at := time.Unix(1_400_000_000+r.Int64N(500_000_000), r.Int64N(2)).In(zone)
		for range 3 {
			want := parsed.Next(at)
			got, err := s.Next(at)
			begin, _ := at.Add(-day).ZoneBounds()
			if after, _ := want.Add(day).ZoneBounds(); !after.Equal(begin) {
				break // the clocks change between
			}
			if compared++; (err != nil) != want.IsZero() || !want.Equal(got) {
				t.Fatalf("seed %d: %q in %q after %s: %s, %v; robfig says %s", seed, s.Spec, s.Zone, at, got, err, want)
			}
			at = want
		}
	}
	if compared < lines {
		t.Errorf("seed %d: only %d times of %d lines were compared", seed, compared, lines)
	}
}

func TestCronRefusesNonsense(t *testing.T) {
	for _, line := range []string{"", "* * * *", "60 * * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "x * * * *", "1- * * * *", "-1 * * * *", "@sometimes", "@every", "1/99999999999999999999 * * * *"} {
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
	f.Add("5/9223372036854775807 * * * *")
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
