package weir

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	oracle "github.com/robfig/cron/v3"
)

// A library that many use is the oracle for random lines.
func TestCronAgreesWithTheLibrary(t *testing.T) {
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
	for range 2000 {
		parts := make([]string, len(fields))
		for i, f := range fields {
			parts[i] = pick(f)
		}
		line := strings.Join(parts, " ")
		ours, err := parseCron(line)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := oracle.ParseStandard(line)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1_700_000_000+r.Int64N(200_000_000), 0).UTC()
		for range 3 {
			want, got := theirs.Next(at), ours.next(at)
			if !want.Equal(got) {
				t.Fatalf("seed %d: %q after %s: %s, want %s", seed, line, at, got, want)
			}
			if at = got; at.IsZero() {
				break
			}
		}
	}
}

func TestCronAcrossClockChanges(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Budapest")
	if err != nil {
		t.Skip("no time zones on this machine: ", err)
	}
	for _, c := range []struct{ line, after, want string }{
		{"30 12 * * *", "2026-03-28T13:00:00+01:00", "2026-03-29T12:30:00+02:00"},
		{"30 2 * * *", "2026-03-28T13:00:00+01:00", "2026-03-30T02:30:00+02:00"}, // there is no 02:30 that night
		{"0 * * * *", "2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00"},
		{"0 0 * * *", "2026-10-24T12:00:00+02:00", "2026-10-25T00:00:00+02:00"},
	} {
		line, err := parseCron(c.line)
		if err != nil {
			t.Fatal(err)
		}
		after, _ := time.Parse(time.RFC3339, c.after)
		if got := line.next(after.In(zone)).Format(time.RFC3339); got != c.want {
			t.Errorf("%q after %s: %s, want %s", c.line, c.after, got, c.want)
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
	runs, next, err := Schedule{Spec: "@every 1s", Missed: MissedAll}.Due(at(0), at(59))
	if err != nil || len(runs) != missedLimit || !next.Equal(runs[len(runs)-1].Add(time.Second)) {
		t.Errorf("%d runs at once, next %s, %v", len(runs), next, err)
	}
}
