package lab

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// story is what happened, in numbers.
type story struct {
	jobs, attempts, refused, lost, timeouts, forgiven          int
	deaths, cuts, hubs, flaps, moves, broken                   int
	cancels, maintained, retired, released                     int
	quarantined, suspected, healed, restored, stopped, doctors int
	ends                                                       map[fate]int
	units                                                      map[string]int
	examined                                                   time.Duration
}

func newStory() story { return story{ends: map[fate]int{}, units: map[string]int{}} }

// ended counts attempts by how they ended.
func (s *story) ended() int {
	n := s.timeouts + s.forgiven + s.lost
	for _, k := range s.ends {
		n += k
	}
	return n
}

// day is the story without anything that differs from run to run.
func (l *lab) day() string {
	return fmt.Sprintf("%s: %+v %v", l.clock(), l.story, l.meter.hours)
}

// account returns the report as plain text.
func (l *lab) account() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	s, sum := &l.story, l.meter.total()
	say("lab of %d PCs × %d slots × %d devices, %s simulated in %s, seed %d", len(l.pcs), l.slots, l.config.devices, l.length, time.Since(l.began).Round(time.Second), l.seed)
	say("  repeat it      -run %s -seed %d", l.Name(), l.seed)
	say("")
	say("jobs             %d; %d stopped as bad, %d canceled by people", s.jobs, s.stopped, s.cancels)
	say("units            %s", counts(s.units))
	say("attempts         %d: %s, %d timed out by the database, %d taken by a lost hub or PC and not counted, %d lost with a PC", s.attempts, counts(s.ends), s.timeouts, s.forgiven, s.lost)
	say("late reports     %d, all refused", s.refused)
	say("PCs              %d died, %d were cut off and came back", s.deaths, s.cuts)
	say("devices          %d absences, %d lost hubs, %d moved, %d broke, %d in maintenance, %d retired", s.flaps, s.hubs, s.moves, s.broken, s.maintained, s.retired)
	say("quarantine       %d put out, %d suspected; back: %d by a health task, %d by people, %d because the job was bad", s.quarantined, s.suspected, s.healed, s.released, s.restored)
	say("invariants       doctor asked %d times, %d faults", s.doctors, len(l.faults))
	say("")
	say("utilisation      %.2f %% of what eligibility allows (busy %s of %s slot-hours), %.1f %% of all slots", 100*sum.used(), hours(sum.busy), hours(sum.allowed), 100*float64(sum.busy)/float64(sum.slots))
	for from := 0; from < len(l.meter.hours); from += 6 {
		var line []string
		for i, h := range l.meter.hours[from:min(from+6, len(l.meter.hours))] {
			line = append(line, fmt.Sprintf("%02d h %5.1f", from+i, 100*h.used()))
		}
		say("  by hour        %s", strings.Join(line, "   "))
	}
	for _, list := range []struct {
		what string
		of   map[string]time.Duration
		by   time.Duration
	}{{"idle, allowed", l.meter.idle, sum.allowed}, {"not allowed", l.meter.closed, sum.slots}} {
		for _, why := range slices.SortedFunc(maps.Keys(list.of), func(a, c string) int { return cmp.Compare(list.of[c], list.of[a]) }) {
			say("  %-14s %6.2f %%  %8s slot-hours  %s", list.what, 100*float64(list.of[why])/float64(list.by), hours(list.of[why]), why)
		}
	}
	return b.String()
}

func hours(d time.Duration) string { return fmt.Sprintf("%.1f", d.Hours()) }

// counts returns "12 done, 3 failed", the largest first.
func counts[K ~string](of map[K]int) string {
	var parts []string
	for _, k := range slices.SortedFunc(maps.Keys(of), func(a, b K) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) }) {
		parts = append(parts, fmt.Sprintf("%d %s", of[k], k))
	}
	return strings.Join(parts, ", ")
}
