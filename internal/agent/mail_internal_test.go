package agent

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/node"
)

// Starts and notes wait for each other; an end goes at once and takes them along.
func TestMailGathersNotes(t *testing.T) {
	const now = time.Minute
	note := node.Note{Type: "progress"}
	for name, c := range map[string]struct {
		mail         mail
		all          bool
		notes, left  int
		starts, ends int
		rest         time.Duration
	}{
		"nothing":             {},
		"notes that can wait": {mail: mail{notes: []node.Note{note}, due: now + time.Second}, left: 1, rest: time.Second},
		"notes that are due":  {mail: mail{notes: []node.Note{note, note}, due: now}, notes: 2},
		"many notes":          {mail: mail{notes: make([]node.Note, batchMost), due: now + time.Second}, notes: batchMost},
		"an end":              {mail: mail{notes: []node.Note{note}, ends: []*ending{{}}, due: now + time.Second}, notes: 1, ends: 1},
		"a start":             {mail: mail{notes: []node.Note{note}, starts: []*attempt{{}}, due: now + time.Second}, left: 1, rest: time.Second},
		"a start that is due": {mail: mail{notes: []node.Note{note}, starts: []*attempt{{}}, due: now - time.Second}, notes: 1, starts: 1},
		"the agent ends":      {mail: mail{notes: []node.Note{note}, due: now + time.Second}, all: true, notes: 1},
	} {
		out, rest := c.mail.take(now, c.all)
		if len(out.notes) != c.notes || len(out.starts) != c.starts || len(out.ends) != c.ends || len(c.mail.notes) != c.left || rest != c.rest {
			t.Errorf("%s: %d notes, %d starts, %d ends go, %d notes stay for %s", name, len(out.notes), len(out.starts), len(out.ends), len(c.mail.notes), rest)
		}
	}
}
