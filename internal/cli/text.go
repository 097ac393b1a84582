package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// short is the end of an id: random, unique, and accepted wherever an id is.
func short(id fmt.Stringer) string {
	s := id.String()
	return s[len(s)-12:]
}

func idText(id weir.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// labels is a=1,b=2 in the order of the names.
func labels[V any](m map[string]V) string {
	parts := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s=%v", k, m[k]))
	}
	return strings.Join(parts, ",")
}

// pretty is JSON for reading; short values stay on one line.
func pretty(text json.RawMessage) string {
	const oneLine = 100
	if len(text) == 0 || string(text) == "null" {
		return ""
	}
	if len(text) <= oneLine {
		return string(text)
	}
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return string(text)
	}
	return out.String()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// bytesText is a size as people say it.
func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	size, names := float64(n)/unit, []string{"KiB", "MiB", "GiB", "TiB"}
	for size >= unit && len(names) > 1 {
		size, names = size/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %s", size, names[0])
}

// count is a number and what it counts.
type count struct {
	n    int
	word string
}

// endedWords says how far something is: how many of all have ended, and the counts
// that are not zero.
func endedWords(ended, total int, counts ...count) string {
	parts := []string{fmt.Sprintf("%d of %d ended", ended, total)}
	for _, c := range counts {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	return strings.Join(parts, ", ")
}

// every is an interval as it is written in a rate, such as 1m or 1.5s.
func every(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d > 0 && d%unit.size == 0 {
			return fmt.Sprint(int(d/unit.size)) + unit.name
		}
	}
	return everyText(d)
}

// thousands writes 1200000 as 1,200,000.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// at is a time that may not have been.
func at(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// who names databases, and counts those that are too many to name.
func who(names []string) string {
	if len(names) <= namedMost+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namedMost], ", "), len(names)-namedMost)
}

// sourceText is a file as somebody wrote it; a terminal sees no control bytes.
func sourceText(o *output, source string) string {
	if o.terminal {
		return cleanLines(source)
	}
	return source
}

// bare is what programs read about a thing that has nothing more to say.
type bare struct {
	Name string `json:"name"`
}

// bareID is what programs read about a credential that is gone.
type bareID struct {
	ID string `json:"id"`
}

// cyan is the colour of what may start and waits for nothing.
const cyan = "36"

// agoOf is ago for a time that may not be there.
func (o *output) agoOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return o.ago(*t)
}

func (o *output) bothOf(t *time.Time, by string) string {
	if t == nil {
		return ""
	}
	return strings.TrimSpace(o.both(*t) + " " + by)
}

// table says that the output is for a person.
func (o *output) table() bool { return o.format == "table" || o.format == "wide" }
