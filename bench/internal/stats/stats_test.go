package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{[]float64{3}, 3},
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := Median(c.in); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		in      []float64
		p, want float64
	}{
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 100, 100},
		{hundred, 0, 1},
		{[]float64{7}, 99, 7},
		{[]float64{1, 2}, 50, 1},
		{[]float64{1, 2}, 99, 2},
	} {
		if got := Percentile(c.in, c.p); got != c.want {
			t.Errorf("Percentile(%d samples, %v) = %v, want %v", len(c.in), c.p, got, c.want)
		}
	}
}

func TestNothingIsNotZero(t *testing.T) {
	for name, got := range map[string]float64{
		"median":     Median(nil),
		"percentile": Percentile(nil, 99),
		"max":        Max(nil),
		"ratio":      Ratio(1, 0),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s of nothing = %v, want NaN", name, got)
		}
	}
}

// A percentile is always one of the samples, never falls as p grows, and the
// samples stay in the order they were given.
func TestPercentileProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "samples")
		before := slices.Clone(samples)
		low := rapid.Float64Range(0, 100).Draw(t, "low")
		high := rapid.Float64Range(low, 100).Draw(t, "high")
		a, b := Percentile(samples, low), Percentile(samples, high)
		if !slices.Contains(samples, a) || !slices.Contains(samples, b) {
			t.Fatalf("percentile is not a sample: %v %v of %v", a, b, samples)
		}
		if a > b {
			t.Fatalf("p%v = %v above p%v = %v", low, a, high, b)
		}
		if !slices.Equal(before, samples) {
			t.Fatalf("samples were reordered")
		}
	})
}
