package picture

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// count writes a whole number with thousands apart.
func count(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// plural writes "1 task" and "3 tasks".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// duration writes a time span as a person says it: two units at most.
func duration(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	switch {
	case d == 0:
		return "0 s"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return short(math.Floor(d.Seconds()*10)/10) + " s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return two(d, time.Minute, "min", time.Second, "s")
	case d < 24*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "min")
	}
	return two(d, 24*time.Hour, "d", time.Hour, "h")
}

func two(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	s := fmt.Sprintf("%d %s", d/big, bigName)
	if rest := d % big / small; rest > 0 && d/big < 10 {
		s += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return s
}

// seconds is duration for a number of seconds, as statistics give it.
func seconds(v float64) string {
	if math.IsNaN(v) || v < 0 {
		return "0 s"
	}
	if v > 1e9 {
		v = 1e9
	}
	return duration(time.Duration(v * float64(time.Second)))
}

// short writes a measured number with no more digits than a label needs.
func short(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "0"
	case a >= 1e9:
		return trim(v/1e9) + " G"
	case a >= 1e6:
		return trim(v/1e6) + " M"
	case a >= 1e4:
		return trim(v/1e3) + " k"
	case a >= 100:
		return count(int(math.Round(v)))
	}
	return trim(v)
}

func trim(v float64) string {
	digits := 1
	if math.Abs(v) < 1 {
		digits = 2
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// scale writes a factor, which needs more digits than a coordinate.
func scale(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// tally says how many are in each state, those that need a person first.
func tally(n map[State]int) string {
	var parts []string
	for _, s := range sorted(n) {
		parts = append(parts, count(n[s])+" "+s.look().word)
	}
	return strings.Join(parts, ", ")
}

// stamp writes an instant for tooltips.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
