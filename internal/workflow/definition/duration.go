package definition

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that is written as 90s, 5m, 2h30m or 1d.
type Duration time.Duration

// maxDuration keeps a duration within the range of a database interval and a timer.
const maxDuration = 10 * 366 * 24 * time.Hour

// ParseDuration reads a Go duration that may begin with days: 1d, 1d12h.
func ParseDuration(text string) (Duration, error) {
	days, rest := 0.0, text
	if head, tail, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseFloat(head, 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return 0, fmt.Errorf("%q is no duration", text)
		}
		days, rest = n, tail
	}
	var d time.Duration
	if rest != "" || text == "" {
		var err error
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, fmt.Errorf("%q is no duration", text)
		}
	}
	if math.Abs(days) > maxDuration.Hours()/24 || d > maxDuration {
		return 0, fmt.Errorf("%q is longer than ten years", text)
	}
	d += time.Duration(days * 24 * float64(time.Hour))
	if d < 0 {
		return 0, fmt.Errorf("%q is negative", text)
	}
	return Duration(d), nil
}

// String returns the form that ParseDuration reads. It writes 24h instead of days.
func (d Duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// MarshalJSON writes the duration as text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("a duration is text such as 90s: %w", err)
	}
	parsed, err := ParseDuration(s)
	*d = parsed
	return err
}

// interval is the form that the engine's intervals take.
func (d Duration) interval() string {
	if d == 0 {
		return ""
	}
	return strconv.FormatFloat(time.Duration(d).Seconds(), 'f', -1, 64) + " seconds"
}
