package period

import (
	"math"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0s": 0, "0": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 2 * Day, "0d": 0, "1d12h": 36 * time.Hour,
		"1.5d": 36 * time.Hour, "500ms": 500 * time.Millisecond, "7us": 7 * time.Microsecond, "106751d": 106751 * Day,
		"2562047h47m16.854775807s": math.MaxInt64,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "d", "-1s", "-1d", "1d-2h", "90", "1w", "1 d", "x", "Infd", "NaNd", "-Infd", "1e400d", "106752d", "106751d24h", "1d1d", "9223372037s0d",
	} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": 0, "90ms": 90 * time.Millisecond, "1m30s": 90 * time.Second, "1h": time.Hour, "48h": 2 * Day, "1h0m5s": time.Hour + 5*time.Second, "10m": 10 * time.Minute,
	} {
		got := Format(d)
		if back, err := Parse(got); got != want || err != nil || back != d {
			t.Errorf("%v is written as %q and read as %v (%v), want %q", d, got, back, err, want)
		}
	}
}
