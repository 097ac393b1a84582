package picture

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/locale"
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

// plural writes "1 task" and "3 tasks": the key with .one is for one.
func plural(lang *locale.Words, n int, key string) string {
	if n == 1 {
		return lang.Say(key + ".one")
	}
	return lang.Say(key, count(n))
}

// duration writes a time span as a person says it: two units at most.
func duration(lang *locale.Words, d time.Duration) string {
	if d < 0 {
		d = 0
	}
	switch {
	case d == 0:
		return lang.Say("span.s", "0")
	case d < time.Millisecond:
		return lang.Say("span.us", d.Microseconds())
	case d < time.Second:
		return lang.Say("span.ms", d.Milliseconds())
	case d < 10*time.Second:
		return lang.Say("span.s", short(math.Floor(d.Seconds()*10)/10))
	case d < time.Minute:
		return lang.Say("span.s", strconv.Itoa(int(d.Seconds())))
	case d < time.Hour:
		return two(lang, d, time.Minute, "span.min", time.Second, "span.s")
	case d < 24*time.Hour:
		return two(lang, d, time.Hour, "span.h", time.Minute, "span.min")
	}
	return two(lang, d, 24*time.Hour, "span.d", time.Hour, "span.h")
}

func two(lang *locale.Words, d, big time.Duration, bigKey string, small time.Duration, smallKey string) string {
	s := lang.Say(bigKey, strconv.Itoa(int(d/big)))
	if rest := d % big / small; rest > 0 && d/big < 10 {
		s += " " + lang.Say(smallKey, strconv.Itoa(int(rest)))
	}
	return s
}

// seconds is duration for a number of seconds, as statistics give it.
func seconds(lang *locale.Words, v float64) string {
	if math.IsNaN(v) || v < 0 {
		return lang.Say("span.s", "0")
	}
	if v > 1e9 {
		v = 1e9
	}
	return duration(lang, time.Duration(v*float64(time.Second)))
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
func tally(lang *locale.Words, n map[State]int) string {
	var parts []string
	for _, s := range sorted(n) {
		parts = append(parts, lang.Say("drawn.count", count(n[s]), s.word(lang)))
	}
	return strings.Join(parts, ", ")
}

// stamp writes an instant for tooltips.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// dayOf writes the day of an instant, without its year.
func dayOf(lang *locale.Words, t time.Time) string {
	t = t.UTC()
	return lang.Say("drawn.day", t.Day(), lang.Say("month.short."+strconv.Itoa(int(t.Month()))))
}

// gateWord is what people call a gate.
func gateWord(lang *locale.Words, gate string) string {
	if lang.Has("gate." + gate) {
		return lang.Say("gate." + gate)
	}
	return gate
}
