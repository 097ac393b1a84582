package period

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Day has 24 hours in every grammar of Weir.
const Day = 24 * time.Hour

// Parse reads a duration of Go that may begin with days: 90s, 1.5d, 1d12h. It is zero or
// longer.
func Parse(text string) (time.Duration, error) {
	bad := fmt.Errorf("%q is not a duration such as 90s, 12h or 30d", text)
	var days, rest time.Duration
	tail := text
	if head, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseFloat(head, 64)
		if err != nil || !(n >= 0 && n <= float64(math.MaxInt64/Day)) {
			return 0, bad
		}
		days, tail = time.Duration(n*float64(Day)), after
	}
	if tail != "" || text == "" {
		var err error
		if rest, err = time.ParseDuration(tail); err != nil {
			return 0, bad
		}
	}
	if rest < 0 || rest > math.MaxInt64-days {
		return 0, bad
	}
	return days + rest, nil
}

// Format writes the shortest form without days: 1h, and not 1h0m0s.
func Format(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}
