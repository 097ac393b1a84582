package op

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Period is a duration in an input: "90s", "12h", "2d".
type Period time.Duration

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
	d, err := ParseWait(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("%q is not a duration such as 90s, 12h or 30d", s)
	}
	return Period(d), err
}
