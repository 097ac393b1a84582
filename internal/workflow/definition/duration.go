package definition

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/period"
)

// Duration is a time.Duration that is written as 90s, 5m, 2h30m or 1d.
type Duration time.Duration

// maxDuration keeps a duration within the range of a database interval and a timer.
const maxDuration = 10 * 366 * 24 * time.Hour

// ParseDuration reads a duration of at most ten years.
func ParseDuration(text string) (Duration, error) {
	d, err := period.Parse(text)
	if err == nil && d > maxDuration {
		err = fmt.Errorf("%q is longer than ten years", text)
	}
	if err != nil {
		return 0, err
	}
	return Duration(d), nil
}

// String returns the form that ParseDuration reads. It writes 24h instead of days.
func (d Duration) String() string { return period.Format(time.Duration(d)) }

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
