package script_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
)

func rank(t *testing.T, version string) int64 {
	t.Helper()
	r, err := script.Rank(version)
	if err != nil {
		t.Fatalf("%s: %v", version, err)
	}
	if r < 0 {
		t.Fatalf("%s: rank %d", version, r)
	}
	return r
}

// TestRankOrder walks versions in the order in which they must run.
func TestRankOrder(t *testing.T) {
	ascending := []string{"0", "0.0.1", "0.1", "1", "1.0.1", "1.1", "1.2", "1.10", "2", "7", "7.1", "7.1.1", "7.2", "8", "10", "99", "100", "2026.11.15.3", "20260101", "20260101120000", "20260101120000.1", "20260101120001", "20260101120000123", "99999999999999999"}
	for i := 1; i < len(ascending); i++ {
		if a, b := rank(t, ascending[i-1]), rank(t, ascending[i]); a >= b {
			t.Errorf("%s has %d, %s has %d", ascending[i-1], a, ascending[i], b)
		}
	}
}

func TestRankSame(t *testing.T) {
	for _, same := range [][]string{{"1", "001", "1.0", "1_0", "01.00.0"}, {"1.2", "1_2", "01.02", "1.2.0"}, {"0", "000", "0.0"}} {
		want, err := script.Canonical(same[0])
		if err != nil || want != same[0] {
			t.Fatalf("%s is written %s: %v", same[0], want, err)
		}
		for _, version := range same {
			got, err := script.Canonical(version)
			if err != nil || got != want || rank(t, version) != rank(t, want) {
				t.Errorf("%s: %s with rank %d, want %s with %d (%v)", version, got, rank(t, version), want, rank(t, want), err)
			}
		}
	}
}

func TestRankRefuses(t *testing.T) {
	for _, version := range []string{"", "a", "1a", "1.", ".1", "1..2", "-1", "1-2", "v1", " 1", "١", "9999999999999999999999", "999999999999999999", "1.2.3.4.5.6.7.8.9", "20260101120000.20260101120000"} {
		if r, err := script.Rank(version); err == nil {
			t.Errorf("%q has rank %d", version, r)
		} else if !strings.Contains(err.Error(), ";") {
			t.Errorf("%q: no advice: %v", version, err)
		}
	}
}

// TestRankKeepsOrder compares with the comparison of the numbers one by one,
// for many pairs that often share their beginning.
func TestRankKeepsOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- the same pairs each time
	version := func() []uint64 {
		parts := make([]uint64, 1+random.IntN(4))
		for i := range parts {
			parts[i] = random.Uint64N(1 << random.IntN(10))
		}
		if random.IntN(3) == 0 {
			parts = []uint64{20_200_101_000_000 + random.Uint64N(100_000_000_000)}
		}
		return parts
	}
	text := func(parts []uint64) string {
		words := make([]string, len(parts))
		for i, p := range parts {
			words[i] = fmt.Sprintf("%0*d", 1+random.IntN(3), p)
		}
		return strings.Join(words, ".")
	}
	naive := func(a, b []uint64) int {
		for i := range max(len(a), len(b)) {
			var x, y uint64
			if i < len(a) {
				x = a[i]
			}
			if i < len(b) {
				y = b[i]
			}
			if x != y {
				return cmp.Compare(x, y)
			}
		}
		return 0
	}
	for range 50_000 {
		a := version()
		b := version()
		if random.IntN(2) == 0 {
			b = slices.Clone(a)
			b[random.IntN(len(b))] += random.Uint64N(3)
			if len(b) < 4 && len(a) == 1 && a[0] < 1<<40 || len(b) < 3 {
				b = append(b, random.Uint64N(3))
			}
		}
		if got, want := cmp.Compare(rank(t, text(a)), rank(t, text(b))), naive(a, b); got != want {
			t.Fatalf("%v and %v compare as %d, want %d", a, b, got, want)
		}
	}
}
