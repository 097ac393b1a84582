package cli

import (
	"fmt"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// called is something that people know by a name that others may have, too.
type called struct {
	id    weir.ID
	name  string
	ended bool
}

// named finds what goes by a name among what a list gave, newest first: the one that
// has not ended, or else the newest that has. noun is what it is, list the command
// that lists it.
func named[T any](found []T, text, noun, list string, as func(T) called) (weir.ID, error) {
	var live, ended []called
	for _, x := range found {
		switch c := as(x); {
		case c.name != text:
		case c.ended:
			ended = append(ended, c)
		default:
			live = append(live, c)
		}
	}
	switch {
	case len(live) > 1:
		return weir.ID{}, invalid("give the id: "+list+" --search "+clean(text), "%d %ss are called %q, such as %s and %s", len(live), noun, text, short(live[0].id), short(live[1].id))
	case len(live) == 1:
		return live[0].id, nil
	case len(ended) > 0:
		return ended[0].id, nil
	}
	return weir.ID{}, problem.New(problem.NotFound, "see them with: "+list, "there is no %s %q", noun, text)
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
