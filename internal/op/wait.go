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

// Wait is a duration in JSON that may be zero: "20m", "30d", "0s".
type Wait time.Duration

const day = 24 * time.Hour

// MarshalJSON implements [json.Marshaler].
func (w Wait) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(w).String()) }

// UnmarshalJSON implements [json.Unmarshaler].
func (w *Wait) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) != nil {
		return errors.New("expected a duration such as 90s, 12h or 30d")
	}
	d, err := ParseWait(word)
	*w = Wait(d)
	return err
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (w *Wait) UnmarshalText(text []byte) error {
	d, err := ParseWait(string(text))
	*w = Wait(d)
	return err
}

// ParseWait reads a duration that may be zero and may begin with days.
func ParseWait(text string) (time.Duration, error) {
	bad := fmt.Errorf("%q is not a duration such as 90s, 12h or 30d", text)
	var days, d time.Duration
	rest := text
	if before, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(before, 10, 31)
		if err != nil || time.Duration(n) > math.MaxInt64/day {
			return 0, bad
		}
		days, rest = time.Duration(n)*day, after
	}
	if rest != "" {
		var err error
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, bad
		}
	}
	if d < 0 || d > math.MaxInt64-days {
		return 0, bad
	}
	return d + days, nil
}
