package definition

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/spelling"
)

// Fault is one error in a definition, its place, and what to do about it.
type Fault struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty" doc:"Leads to the value: steps[2].needs[0]."`
	What    string `json:"what"`
	Next    string `json:"next,omitempty" doc:"What to do about it."`
	Warning bool   `json:"warning,omitempty" doc:"It is allowed, but likely not meant."`
}

// String returns file:line:col: what, and the advice on a second line.
func (f Fault) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ":")
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", f.Line, f.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if f.Warning {
		b.WriteString("warning: ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.What)
	if f.Next != "" {
		b.WriteString("\n  " + f.Next)
	}
	return b.String()
}

// Faults are in the order of the file.
type Faults []Fault

// Error has one line for each fault and one for each advice.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].String()
	}
	return strings.Join(lines, "\n")
}

// Errors leaves the warnings out.
func (f Faults) Errors() Faults {
	return slices.DeleteFunc(slices.Clone(f), func(one Fault) bool { return one.Warning })
}

// Err returns nil if there are only warnings.
func (f Faults) Err() error {
	if bad := f.Errors(); len(bad) > 0 {
		return bad
	}
	return nil
}

// faultLimit is how many faults are reported at once, because a file with more probably
// has one cause that shows in the first.
const faultLimit = 100

func (f Faults) sorted() Faults {
	slices.SortStableFunc(f, func(a, b Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	if len(f) > faultLimit {
		f = f[:faultLimit]
	}
	return f
}

// place is the position of a value.
type place struct{ line, column int }

// Meant returns the word that was probably meant, as advice: did you mean …? It returns
// "" if none is similar.
func Meant(word string, words []string) string {
	if meant := spelling.Closest(word, words); meant != "" {
		return fmt.Sprintf("did you mean %s?", meant)
	}
	return ""
}

// list writes words for a person: a, b, c … at most twelve.
func list(words []string) string {
	words = slices.Sorted(slices.Values(words))
	if len(words) > 12 {
		words = append(words[:12:12], "…")
	}
	return strings.Join(words, ", ")
}
