package report

import (
	"math"
	"testing"
)

func TestTable(t *testing.T) {
	got := Table([]string{"system", "jobs/s", "note"}, [][]string{
		{"river", "12,700", "as it is"},
		{"weir", "n/a", "größer"},
	})
	const want = "" +
		"  system  jobs/s  note\n" +
		"  ──────  ──────  ────────\n" +
		"  river   12,700  as it is\n" +
		"  weir       n/a  größer\n"
	if got != want {
		t.Errorf("table:\n%s\nwant:\n%s", got, want)
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		value    float64
		decimals int
		want     string
	}{
		{0, 0, "0"},
		{999, 0, "999"},
		{1000, 0, "1,000"},
		{1234567.891, 1, "1,234,567.9"},
		{-1234.5, 1, "-1,234.5"},
		{-0.001, 1, "0.0"},
		{999.96, 1, "1,000.0"},
		{math.NaN(), 2, "n/a"},
		{math.Inf(1), 2, "n/a"},
	} {
		if got := Number(c.value, c.decimals); got != c.want {
			t.Errorf("Number(%v, %d) = %q, want %q", c.value, c.decimals, got, c.want)
		}
	}
}

func TestPercent(t *testing.T) {
	if got := Percent(0.123); got != "12.3 %" {
		t.Errorf("Percent = %q", got)
	}
	if got := Percent(math.NaN()); got != "n/a" {
		t.Errorf("Percent of nothing = %q", got)
	}
}
