package weir_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

func at(t testing.TB, s string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestScheduleNext(t *testing.T) {
	const newYork, budapest, lordHowe, cairo, apia = "America/New_York", "Europe/Budapest", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Apia"
	for _, c := range []struct{ name, spec, zone, after, want string }{
		{"every minute", "* * * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"},
		{"a time is never its own next", "0 12 * * *", "", "2026-01-01T12:00:00Z", "2026-01-02T12:00:00Z"},
		{"parts of a second", "0 12 * * *", "", "2026-01-01T11:59:59.999999Z", "2026-01-01T12:00:00Z"},
		{"week days", "30 9 * * MON-FRI", "", "2026-01-02T09:30:00Z", "2026-01-05T09:30:00Z"},
		{"day of month or of week", "0 0 13 * FRI", "", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
		{"leap day", "0 0 29 2 *", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"daily", "@daily", budapest, "2026-01-01T12:00:00Z", "2026-01-01T23:00:00Z"},
		{"every", "@every 90m", "", "2026-01-01T00:00:00.5Z", "2026-01-01T01:30:00.5Z"},
		{"once", "@at 2026-01-02T03:04:05+01:00", "", "2026-01-01T00:00:00Z", "2026-01-02T02:04:05Z"},
		{"zone in summer", "0 9 * * *", newYork, "2026-07-01T00:00:00Z", "2026-07-01T13:00:00Z"},
		{"zone in winter", "0 9 * * *", newYork, "2026-01-01T00:00:00Z", "2026-01-01T14:00:00Z"},

		{"forward: a time that does not exist comes the moment after", "30 2 * * *", newYork, "2026-03-08T05:00:00Z", "2026-03-08T07:00:00Z"},
		{"forward: and only once", "30 2 * * *", newYork, "2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"},
		{"forward: several in the gap come once", "0,15,45 2 * * *", newYork, "2026-03-08T05:00:00Z", "2026-03-08T07:00:00Z"},
		{"forward: the first after the gap is the same moment", "0 2,3 * * *", newYork, "2026-03-08T07:00:00Z", "2026-03-09T06:00:00Z"},
		{"forward: a time before the gap stays", "59 1 * * *", newYork, "2026-03-08T05:00:00Z", "2026-03-08T06:59:00Z"},
		{"forward: a pace leaves out what does not exist", "*/30 * * * *", newYork, "2026-03-08T06:30:00Z", "2026-03-08T07:00:00Z"},
		{"forward: a pace within one hour of the day", "*/30 2 * * *", newYork, "2026-03-08T05:00:00Z", "2026-03-09T06:00:00Z"},
		{"forward: hourly", "@hourly", newYork, "2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z"},
		{"forward: midnight does not exist", "@daily", cairo, "2026-04-23T12:00:00Z", "2026-04-23T22:00:00Z"},
		{"forward: half an hour", "15 2 * * *", lordHowe, "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"},
		{"forward: a whole day", "0 12 * * *", apia, "2011-12-29T23:00:00Z", "2011-12-30T10:00:00Z"},

		{"back: the first of two", "30 1 * * *", newYork, "2026-11-01T04:00:00Z", "2026-11-01T05:30:00Z"},
		{"back: not the second", "30 1 * * *", newYork, "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"},
		{"back: asked within the second", "30 1 * * *", newYork, "2026-11-01T06:10:00Z", "2026-11-02T06:30:00Z"},
		{"back: the first time after it", "0 2 * * *", newYork, "2026-11-01T05:30:00Z", "2026-11-01T07:00:00Z"},
		{"back: a pace goes on", "*/30 * * * *", newYork, "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z"},
		{"back: hourly", "0 * * * *", newYork, "2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z"},
		{"back: Budapest", "30 2 * * *", budapest, "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		{"back: half an hour", "45 1 * * *", lordHowe, "2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := weir.Schedule{Spec: c.spec, Zone: c.zone}.Next(at(t, c.after))
			if err != nil || !got.Equal(at(t, c.want)) {
				t.Errorf("Next(%q, %q, %s) = %s, %v; want %s", c.spec, c.zone, c.after, got.UTC().Format(time.RFC3339), err, c.want)
			}
		})
	}
}

func TestSchedulesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ spec, zone, want string }{
		{"", "", "has five fields"},
		{"* * * *", "", "has five fields"},
		{"0 0 0 * * *", "", "has five fields"},
		{"61 * * * *", "", "not between 0 and 59"},
		{"0 0 30 2 *", "", "names no time"},
		{"@every soon", "", "wants a duration"},
		{"@fortnightly", "", "there are @hourly"},
		{"@at noon", "", "wants a time"},
		{"@at 2026-01-01 10:00", "", "wants a time"},
		{"@at 1969-12-31T00:00:00Z", "", "wants a time"},
		{"TZ=UTC * * * * *", "", "field of its own"},
		{"CRON_TZ=", "", "field of its own"},
		{"* * * * *", "Local", "name a place"},
		{"* * * * *", "Mars/Olympus", "unknown time zone"},
	} {
		if _, err := (weir.Schedule{Spec: c.spec, Zone: c.zone}).Next(time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Next(%q, %q): %v, want %q", c.spec, c.zone, err, c.want)
		}
	}
}

func TestScheduleDue(t *testing.T) {
	for _, c := range []struct {
		name, spec, from, now string
		missed                weir.Missed
		due                   []string
		next                  string
	}{
		{"not yet", "@hourly", "2026-01-01T01:00:00Z", "2026-01-01T00:59:59Z", weir.MissedOne, nil, "2026-01-01T01:00:00Z"},
		{"in time", "@hourly", "2026-01-01T01:00:00Z", "2026-01-01T01:00:00Z", weir.MissedOne, []string{"2026-01-01T01:00:00Z"}, "2026-01-01T02:00:00Z"},
		{"in time, skip", "@hourly", "2026-01-01T01:00:00Z", "2026-01-01T01:00:01Z", weir.MissedSkip, []string{"2026-01-01T01:00:00Z"}, "2026-01-01T02:00:00Z"},
		{"a change of leaders is no missed run", "@hourly", "2026-01-01T01:00:00Z", "2026-01-01T01:00:20Z", weir.MissedSkip, []string{"2026-01-01T01:00:00Z"}, "2026-01-01T02:00:00Z"},
		{"skip", "@hourly", "2026-01-01T01:00:00Z", "2026-01-01T04:30:00Z", weir.MissedSkip, nil, "2026-01-01T05:00:00Z"},
		{"skip the missed ones, not this one", "@hourly", "2026-01-01T01:00:00Z", "2026-01-01T04:00:05Z", weir.MissedSkip, []string{"2026-01-01T04:00:00Z"}, "2026-01-01T05:00:00Z"},
		{"one", "@hourly", "2026-01-01T01:00:00Z", "2026-01-01T04:30:00Z", weir.MissedOne, []string{"2026-01-01T04:00:00Z"}, "2026-01-01T05:00:00Z"},
		{"one after years", "0 0 1 * *", "2001-01-01T00:00:00Z", "2026-01-15T00:00:00Z", weir.MissedOne, []string{"2026-01-01T00:00:00Z"}, "2026-02-01T00:00:00Z"},
		{"all", "@hourly", "2026-01-01T01:00:00Z", "2026-01-01T03:30:00Z", weir.MissedAll, []string{"2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z"}, "2026-01-01T04:00:00Z"},
		{"the stored time counts, though the line does not name it", "@hourly", "2026-01-01T01:10:00Z", "2026-01-01T02:30:00Z", weir.MissedAll, []string{"2026-01-01T01:10:00Z", "2026-01-01T02:00:00Z"}, "2026-01-01T03:00:00Z"},
		{"every keeps its pace", "@every 10m", "2026-01-01T01:03:00Z", "2026-01-01T01:30:00Z", weir.MissedOne, []string{"2026-01-01T01:23:00Z"}, "2026-01-01T01:33:00Z"},
		{"every, all", "@every 10m", "2026-01-01T01:03:00Z", "2026-01-01T01:30:00Z", weir.MissedAll, []string{"2026-01-01T01:03:00Z", "2026-01-01T01:13:00Z", "2026-01-01T01:23:00Z"}, "2026-01-01T01:33:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			due, next, err := weir.Schedule{Spec: c.spec, Missed: c.missed}.Due(at(t, c.from), at(t, c.now))
			var got []string
			for _, d := range due {
				got = append(got, d.UTC().Format(time.RFC3339))
			}
			if err != nil || !slices.Equal(got, c.due) || !next.Equal(at(t, c.next)) {
				t.Errorf("got %v, next %s, %v; want %v, next %s", got, next.UTC().Format(time.RFC3339), err, c.due, c.next)
			}
		})
	}
}

func TestRunsMissedTooLongAgoAreGone(t *testing.T) {
	from, now := at(t, "2026-01-01T00:00:00Z"), at(t, "2026-01-02T00:30:00Z")
	for missed, want := range map[weir.Missed]int{weir.MissedAll: 3, weir.MissedOne: 1, weir.MissedSkip: 0} {
		runs, next, err := weir.Schedule{Spec: "@hourly", Missed: missed, CatchUp: 3 * time.Hour}.Due(from, now)
		if err != nil || len(runs) != want || !next.Equal(at(t, "2026-01-02T01:00:00Z")) {
			t.Errorf("%s: %v, next %s, %v", missed, runs, next, err)
		}
	}
	// The change of a leader is no missed run, however short the window.
	runs, _, err := weir.Schedule{Spec: "@hourly", CatchUp: time.Second}.Due(now, now.Add(20*time.Second))
	if err != nil || len(runs) != 1 {
		t.Errorf("20 s late: %v, %v", runs, err)
	}
	if runs, _, err = (weir.Schedule{Spec: "@daily", CatchUp: time.Hour}).Due(from, at(t, "2026-01-01T12:00:00Z")); err != nil || len(runs) != 0 {
		t.Errorf("twelve hours late: %v, %v", runs, err)
	}
}

func TestAScheduleForOnce(t *testing.T) {
	when := at(t, "2026-01-01T10:00:00Z")
	once := weir.Schedule{Spec: "@at 2026-01-01T10:00:00Z"}
	if runs, next, err := once.Due(when, when.Add(time.Hour)); err != nil || len(runs) != 1 || !runs[0].Equal(when) || !next.IsZero() {
		t.Errorf("late: %v, next %s, %v", runs, next, err)
	}
	if runs, next, err := once.Due(when, when.Add(-time.Second)); err != nil || len(runs) != 0 || !next.Equal(when) {
		t.Errorf("early: %v, next %s, %v", runs, next, err)
	}
	once.Missed = weir.MissedSkip
	if runs, next, err := once.Due(when, when.Add(time.Hour)); err != nil || len(runs) != 0 || !next.IsZero() {
		t.Errorf("skipped: %v, next %s, %v", runs, next, err)
	}
	if _, err := once.Next(when); err == nil || !strings.Contains(err.Error(), "is over") {
		t.Errorf("the next after it: %v", err)
	}
	if first, err := once.First(when.Add(time.Hour)); err != nil || !first.Equal(when) {
		t.Errorf("the first: %s, %v", first, err)
	}
	if runs, err := once.Upcoming(when.Add(-time.Hour), 5); err != nil || len(runs) != 1 {
		t.Errorf("upcoming: %v, %v", runs, err)
	}
}

func TestUpcomingAndBetween(t *testing.T) {
	from, to := at(t, "2026-01-01T00:00:00Z"), at(t, "2026-01-04T00:00:00Z")
	s := weir.Schedule{Spec: "@daily"}
	if runs, err := s.Upcoming(from, 3); err != nil || len(runs) != 3 || !runs[2].Equal(to) {
		t.Errorf("upcoming: %v, %v", runs, err)
	}
	// The first is included, the last is not.
	if runs, more, err := s.Between(from, to, 10); err != nil || more || len(runs) != 3 || !runs[0].Equal(from) {
		t.Errorf("between: %v, %v, %v", runs, more, err)
	}
	if runs, more, err := s.Between(from, to, 2); err != nil || !more || len(runs) != 2 {
		t.Errorf("two of them: %v, %v, %v", runs, more, err)
	}
	if _, _, err := (weir.Schedule{Spec: "never"}).Between(from, to, 2); err == nil {
		t.Error("a spec that is none has runs")
	}
}

func TestAllMissedRunsAreTheNewestThousand(t *testing.T) {
	const limit = 1000
	from, now := at(t, "2020-01-01T00:00:00Z"), at(t, "2026-01-01T00:00:30Z")
	for spec, step := range map[string]time.Duration{"* * * * *": time.Minute, "@every 1s": time.Second} {
		due, next, err := weir.Schedule{Spec: spec, Zone: "Europe/Budapest", Missed: weir.MissedAll}.Due(from, now)
		if err != nil || len(due) != limit {
			t.Fatalf("%s: %d runs, %v", spec, len(due), err)
		}
		last := now.Truncate(step)
		if !due[len(due)-1].Equal(last) || !due[0].Equal(last.Add(-(limit-1)*step)) || !next.Equal(last.Add(step)) {
			t.Errorf("%s: %v … %v, next %v", spec, due[0], due[len(due)-1], next)
		}
	}
}

// zones have every kind of change: an hour, half an hour, at midnight, a day.
var zones = []string{"", "America/New_York", "Europe/Budapest", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Apia", "America/St_Johns", "Asia/Kathmandu"}

func FuzzScheduleNext(f *testing.F) {
	f.Add("30 2 * * *", uint8(1), int64(1772960400))
	f.Add("*/7 1-3 * 3,11 SUN", uint8(3), int64(1793505600))
	f.Add("@every 1h30m10s", uint8(0), int64(0))
	f.Add("@yearly", uint8(5), int64(1325200000))
	f.Add("0 0 31 * ?", uint8(4), int64(-1))
	f.Add("CRON_TZ=", uint8(4), int64(-1))
	f.Add("@at 2026-01-02T03:04:05Z", uint8(1), int64(0))
	f.Fuzz(func(t *testing.T, spec string, zone uint8, unix int64) {
		s := weir.Schedule{Spec: spec, Zone: zones[int(zone)%len(zones)], Missed: weir.MissedAll}
		after := time.Unix(unix%(1<<32), unix%1e9).UTC()
		next, err := s.Next(after)
		if err != nil {
			return
		}
		if !next.After(after) {
			t.Fatalf("Next(%q, %q, %v) = %v", spec, s.Zone, after, next)
		}
		if strings.HasPrefix(strings.TrimSpace(spec), "@every") {
			return
		}
		// There is nothing between: from anywhere in it, next is next.
		between := after.Add(next.Sub(after) / 2)
		if again, err := s.Next(between); err != nil || !again.Equal(next) {
			t.Fatalf("%q in %q: next after %v is %v, but after %v it is %v (%v)", spec, s.Zone, after, next, between, again, err)
		}
		// Due agrees with Next.
		due, following, err := s.Due(next, next.Add(time.Second))
		if strings.HasPrefix(strings.TrimSpace(spec), "@at") {
			if len(due) != 1 || !due[0].Equal(next) || !following.IsZero() || err != nil {
				t.Fatalf("%q: Due %v, then %v (%v)", spec, due, following, err)
			}
			return
		}
		if want, never := s.Next(next); err != nil != (never != nil) || err == nil && (len(due) != 1 || !due[0].Equal(next) || !following.Equal(want)) {
			t.Fatalf("%q in %q: Due %v %v %v, want %v then %v", spec, s.Zone, due, following, err, next, want)
		}
	})
}
