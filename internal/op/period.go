package op

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/period"
)

// Period is a duration in an input: "90s", "12h", "2d".
type Period time.Duration

// String returns the shortest form: 1h, and not 1h0m0s.
func (p Period) String() string { return period.Format(time.Duration(p)) }

// MarshalText implements [encoding.TextMarshaler].
func (p Period) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Period) UnmarshalText(text []byte) error {
	d, err := ParsePeriod(string(text))
	*p = Period(d)
	return err
}

// UnmarshalJSON implements [json.Unmarshaler]. A number counts seconds, and an empty text is
// zero.
func (p *Period) UnmarshalJSON(text []byte) error {
	var s string
	if seconds, err := strconv.ParseFloat(string(text), 64); err == nil {
		s = strconv.FormatFloat(seconds, 'f', -1, 64) + "s"
	} else if json.Unmarshal(text, &s) != nil {
		return errors.New("expected a duration such as 90s, 12h or 30d, or a number of seconds")
	}
	if *p = 0; s == "" {
		return nil
	}
	return p.UnmarshalText([]byte(s))
}

// ParsePeriod reads a duration longer than zero: 90s, 1d12h, or 90000000 us, as the engine
// keeps it in the task of a schedule.
func ParsePeriod(s string) (time.Duration, error) {
	d, err := period.Parse(strings.Replace(s, " us", "us", 1))
	if err != nil || d == 0 {
		err = fmt.Errorf("%q is not a duration such as 90s, 12h or 30d", s)
	}
	return d, err
}
