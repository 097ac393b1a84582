package command

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

// Short is the end of an id: random, unique, and accepted wherever an id is.
func Short(id fmt.Stringer) string {
	s := id.String()
	return s[len(s)-12:]
}

// ID is an id as a list shows it: its end, all of it with -o wide, or empty if there is none.
func (o *Output) ID(id weir.ID) string {
	if id.IsZero() || o.Format == "wide" {
		return IDText(id)
	}
	return Short(id)
}

// IDText is an id, or empty if there is none.
func IDText(id weir.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// Labels is a=1,b=2 in the order of the names.
func Labels[V any](m map[string]V) string {
	parts := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s=%v", k, m[k]))
	}
	return strings.Join(parts, ",")
}

// Pretty is JSON for reading; short values stay on one line.
func Pretty(text json.RawMessage) string {
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

// Yes is yes, or empty.
func Yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// Plural is a number with what it counts.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Title begins a word with a capital.
func Title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// BytesText is a size as people say it.
func BytesText(n int64) string {
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

// Count is a number and what it counts.
type Count struct {
	N    int
	Word string
}

// EndedWords says how far something is: how many of all have ended, and the counts
// that are not zero.
func EndedWords(ended, total int, counts ...Count) string {
	parts := []string{fmt.Sprintf("%d of %d ended", ended, total)}
	for _, c := range counts {
		if c.N > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Word))
		}
	}
	return strings.Join(parts, ", ")
}

// Every is an interval as it is written in a rate, such as 1m or 1.5s.
func Every(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d > 0 && d%unit.size == 0 {
			return fmt.Sprint(int(d/unit.size)) + unit.name
		}
	}
	return EveryText(d)
}

// SourceText is a file as somebody wrote it; a terminal sees no control bytes.
func SourceText(o *Output, source string) string {
	if o.Terminal {
		return CleanLines(source)
	}
	return source
}

// Bare is what programs read about a thing that has nothing more to say.
type Bare struct {
	Name string `json:"name"`
}

// BareID is what programs read about a credential that is gone.
type BareID struct {
	ID string `json:"id"`
}

// AgoOf is ago for a time that may not be there.
func (o *Output) AgoOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return o.Ago(*t)
}

// BothOf is both for a time that may not be there, and by whom.
func (o *Output) BothOf(t *time.Time, by string) string {
	if t == nil {
		return ""
	}
	return strings.TrimSpace(o.Both(*t) + " " + by)
}

// Table says that the output is for a person.
func (o *Output) Table() bool { return o.Format == "table" || o.Format == "wide" }
