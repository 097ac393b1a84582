package picture

import (
	"testing"

	"pgregory.net/rapid"
)

// reachable is the slow way to know which boxes lead where.
func reachable(links []link, boxes int, skip []bool) map[[2]int]bool {
	out := map[[2]int]bool{}
	for i, l := range links {
		if skip == nil || !skip[i] {
			out[[2]int{l.from, l.to}] = true
		}
	}
	for mid := range boxes {
		for a := range boxes {
			for b := range boxes {
				if out[[2]int{a, mid}] && out[[2]int{mid, b}] {
					out[[2]int{a, b}] = true
				}
			}
		}
	}
	return out
}

func TestLinksThatFollowChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "boxes")
		cycles := rapid.IntRange(0, 3).Draw(t, "cycles") == 0
		seen := map[[2]int]bool{}
		var links []link
		for range rapid.IntRange(0, 25).Draw(t, "links") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
			if a > b && !cycles {
				a, b = b, a
			}
			if a != b && !seen[[2]int{a, b}] {
				seen[[2]int{a, b}] = true
				links = append(links, link{from: a, to: b})
			}
		}
		implied := follows(links, n)
		all, few := reachable(links, n, nil), reachable(links, n, implied)
		for pair := range all {
			if !few[pair] {
				t.Fatalf("%v is no longer connected: %v, left out %v", pair, links, implied)
			}
		}
	})
}

func TestFollowsFindsTheShortCut(t *testing.T) {
	got := follows([]link{{from: 0, to: 1}, {from: 0, to: 2}, {from: 1, to: 2}}, 3)
	if got[0] || !got[1] || got[2] {
		t.Errorf("left out %v, want the second only", got)
	}
}

func TestThinIsBoundedAndKeepsCauses(t *testing.T) {
	var links []link
	for a := range 100 {
		for b := range 100 {
			links = append(links, link{from: a, to: 100 + b, cause: a == 99 && b == 99})
		}
	}
	kept, dropped := thin(links, 200)
	if len(kept) != maxLinks || dropped != 100*100-maxLinks {
		t.Errorf("kept %d and dropped %d", len(kept), dropped)
	}
	if !kept[0].cause {
		t.Error("the link that tells a cause was dropped")
	}
	if kept, dropped := thin(links[:thinFrom], 200); len(kept) != thinFrom || dropped != 0 {
		t.Error("a graph that can be read was thinned")
	}
}
