package timeline

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

func TestPlacesAreInTheOrderOfTheTimeline(t *testing.T) {
	order := []place{
		beginning, {1, 1, 1}, {1, 1, 2}, {1, 1, wholeRow}, {1, 2, 1}, {2, 1, wholeRow}, {9, 7, wholeRow}, tailOf(10), {10, 1, 1},
	}
	if !slices.IsSortedFunc(order, place.compare) {
		t.Error("not in order")
	}
	for _, p := range order {
		if got, err := parsePlace(p.cursor()); err != nil || got != p {
			t.Errorf("%v reads as %v, %v", p, got, err)
		}
	}
}

func TestOnlyCursorsAreCursors(t *testing.T) {
	for _, bad := range []string{
		"", ".", "1", "1.", ".1", "1.1+", "1.1+0", "01.1", "1.01", "1.1+01", "-1.1", "+1.1", "1.-1", "1.1.1", "1.1+1+1", " 1.1", "1.1 ", "1,1", "1.1+2147483647",
		"9223372036854775808.1", "1.9223372036854775808", "١.1", strings.Repeat("9", 1000),
	} {
		var refused *problem.Problem
		if _, err := parsePlace(weir.Cursor(bad)); !errors.As(err, &refused) || refused.Kind != problem.Invalid || refused.Next == "" || len(refused.What) > 200 {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestEveryPlaceHasItsCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.OneOf(rapid.Just(wholeRow), rapid.IntRange(1, wholeRow-1))
		draw := func(name string) place {
			return place{rapid.Int64Range(0, math.MaxInt64).Draw(t, name+" xid"), rapid.Int64Range(0, math.MaxInt64).Draw(t, name+" seq"), lines.Draw(t, name+" line")}
		}
		p, q := draw("p"), draw("q")
		if got, err := parsePlace(p.cursor()); err != nil || got != p {
			t.Fatalf("%v reads as %v, %v", p, got, err)
		}
		if p.compare(q) != -q.compare(p) || (p == q) != (p.cursor() == q.cursor()) {
			t.Fatalf("%v and %v", p, q)
		}
	})
}

// Every input is refused, or is the one way to write a place.
func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"0.0", "700.12", "700.12+3", "1.9223372036854775807", "9.9+2147483646", "x", "1.1+", "00.1", "1.1+0", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePlace(weir.Cursor(text))
		if err == nil && string(p.cursor()) != text {
			t.Errorf("%q reads as %v, which is written %q", text, p, p.cursor())
		}
		if err == nil && (p.xid < 0 || p.seq < 0 || p.line < 1) {
			t.Errorf("%q reads as %v", text, p)
		}
		var refused *problem.Problem
		if err != nil && (!errors.As(err, &refused) || len(refused.What) > 1000) {
			t.Errorf("%q is refused with %v", text, err)
		}
	})
}
