package httpapi

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir/internal/node"
)

// Period is a duration in JSON: "90s", "12h", "2d".
type Period time.Duration

const day = 24 * time.Hour

// Schema implements [huma.SchemaProvider].
func (Period) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Description: "A duration such as 90s, 12h or 30d.", Examples: []any{"90s"}, MaxLength: new(100),
		Pattern: `^([0-9]+d)?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))*$`, PatternDescription: "a duration such as 90s, 12h or 30d",
	}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Period) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("expected a duration such as 90s, 12h or 30d")
	}
	if s == "" {
		*p = 0
		return nil
	}
	d, err := parsePeriod(s)
	*p = Period(d)
	return err
}

func parsePeriod(s string) (time.Duration, error) {
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
	return d + days, nil
}

// Wait is a duration in JSON that may be none: "20m", "0s".
type Wait time.Duration

// Schema implements [huma.SchemaProvider].
func (Wait) Schema(r huma.Registry) *huma.Schema { return Period(0).Schema(r) }

// MarshalJSON implements [json.Marshaler].
func (w Wait) MarshalJSON() ([]byte, error) { return node.Span(w).MarshalJSON() }

// UnmarshalJSON implements [json.Unmarshaler].
func (w *Wait) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) == nil {
		if d, err := time.ParseDuration(word); err == nil && d == 0 {
			*w = 0
			return nil
		}
	}
	return (*Period)(w).UnmarshalJSON(text)
}
