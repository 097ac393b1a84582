package stats

import (
	"math"
	"slices"
)

// Median returns the middle of the samples, or the mean of the two middle ones.
// It returns NaN when there are none, so that a missing figure never reads as zero.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Percentile returns the nearest-rank percentile: the smallest sample that at
// least p percent of all samples do not exceed. It never invents a value
// between two samples, which matters for a p99 of a few hundred.
func Percentile(samples []float64, p float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Max returns the largest sample, or NaN when there are none.
func Max(samples []float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	return slices.Max(samples)
}

// Ratio returns a/b, or NaN when b is zero or either is missing.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
