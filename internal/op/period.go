package op

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Period is a duration in an input: "90s", "12h", "2d".
type Period time.Duration

const day = 24 * time.Hour

// MarshalText implements [encoding.TextMarshaler].
func (p Period) MarshalText() ([]byte, error) { return []byte(time.Duration(p).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Period) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePeriod(string(text))
	return err
}

// UnmarshalJSON implements [json.Unmarshaler]. An empty text is none.
func (p *Period) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return errors.New("expected a duration such as 90s, 12h or 30d")
	}
	if *p = 0; s == "" {
		return nil
	}
	return p.UnmarshalText([]byte(s))
}

// ParsePeriod reads a duration longer than none.
func ParsePeriod(s string) (Period, error) {
	bad := fmt.Errorf("%q is not a duration such as 90s, 12h or 30d", s)
	var days time.Duration
	rest := s
	if before, after, found := strings.Cut(s, "d"); found {
		n, err := strconv.ParseUint(before, 10, 31)
		if err != nil || time.Duration(n) > math.MaxInt64/day {
			return 0, bad
		}
		days, rest = time.Duration(n)*day, after
	}
	var d time.Duration
	if rest != "" || days == 0 {
		var err error
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, bad
		}
	}
	if d < 0 || d > math.MaxInt64-days || d+days == 0 {
		return 0, bad
	}
	return Period(d + days), nil
}
