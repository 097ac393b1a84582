package timeline

import (
	"testing"

	"pgregory.net/rapid"
)

// A ring holds the events that were added last, within its limits, and an older ring
// never changes.
func TestARingIsAValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count, weight := rapid.IntRange(1, 20).Draw(t, "count"), rapid.IntRange(1, 20_000).Draw(t, "weight")
		r := newRing().begin(beginning)
		var all []*Event
		var kept [][]*Event
		var rings []*ring
		for range rapid.IntRange(1, 20).Draw(t, "rounds") {
			var events []*Event
			for range rapid.IntRange(1, 30).Draw(t, "events") {
				events = append(events, &Event{place: place{int64(len(all)/3 + 1), int64(len(all) + 1), wholeRow}, Message: string(make([]byte, rapid.IntRange(0, 500).Draw(t, "size")))})
				all = append(all, events[len(events)-1])
			}
			r = r.add(events, events[len(events)-1].place, count, weight)
			rings, kept = append(rings, r), append(kept, append([]*Event(nil), r.events...))
			sum := 0
			for _, e := range r.events {
				sum += e.weight()
			}
			if len(r.events) > count || sum != r.weight || r.weight > weight && len(r.events) > 1 {
				t.Fatalf("%d events of %d bytes, noted %d", len(r.events), sum, r.weight)
			}
			if tail := all[len(all)-len(r.events):]; !same(tail, r.events) || !same(r.after(r.start), r.events) || len(r.after(r.end)) != 0 {
				t.Fatal("not the newest events")
			}
			for i, e := range r.events {
				if !r.holds(e.place) || !same(r.after(e.place), r.events[i+1:]) {
					t.Fatalf("after %v", e.place)
				}
			}
		}
		for i, r := range rings {
			if !same(r.events, kept[i]) {
				t.Fatalf("ring %d changed", i)
			}
		}
	})
}

func same(a, b []*Event) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
