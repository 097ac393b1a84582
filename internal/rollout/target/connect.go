package target

import (
	"slices"
	"strings"
)

// oneLine is an error of a driver that tried several ways, with each said once: it
// tries with TLS and without, and both end the same.
type oneLine struct {
	text string
	err  error
}

func (e *oneLine) Error() string { return e.text }

// Unwrap gives the error behind it.
func (e *oneLine) Unwrap() error { return e.err }

func inOneLine(err error) error {
	var ways []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(ways, line) {
			ways = append(ways, line)
		}
	}
	if len(ways) < 2 {
		return err
	}
	return &oneLine{ways[0] + " " + strings.Join(ways[1:], "; "), err}
}
