package web

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/ui"
)

func taskPath(id weir.ID) string { return ui.Path("tasks", id.String()) }

func jobPath(id weir.ID) string { return ui.Path("jobs", id.String()) }

// subjectPath is the page of what an event is about, or empty.
func subjectPath(e view.Event) string {
	switch {
	case !e.Task.IsZero():
		return taskPath(e.Task)
	case e.Kind == "job" && !e.Job.IsZero():
		return jobPath(e.Job)
	case e.Subject == "":
		return ""
	}
	switch e.Kind {
	case "fleet":
		return ui.Path("fleet", "jobs", e.Subject)
	case "pc":
		return pcPath(e.Subject)
	case "database", "device", "node", "pool", "rollout", "schedule", "worker", "workflow", "workspace":
		return ui.Path(e.Kind+"s", e.Subject)
	}
	return ""
}

// subjectName is what an event is about, short enough for a line: a name, where
// one is known.
func subjectName(e view.Event) string {
	switch {
	case e.Subject != "" && e.Subject != e.Task.String() && e.Subject != e.Job.String():
		return ui.Cut(plain(e.Subject), 60)
	case !e.Task.IsZero():
		return ui.Short(e.Task.String())
	case e.Kind == "job" && !e.Job.IsZero():
		return ui.Short(e.Job.String())
	}
	return e.Subject
}

// namedSubject is the name of what the event is about, where it has one.
func namedSubject(e view.Event, names map[weir.ID]view.Name) string {
	name := names[e.Task].String()
	if e.Task.IsZero() && e.Kind == "job" {
		name = names[e.Job].Job
	}
	if name == "" {
		return subjectName(e)
	}
	return ui.Cut(plain(name), 60)
}

// doer is who made the event happen: a worker, or a person.
func doer(e view.Event) string {
	if e.Worker != "" {
		return plain(e.Worker)
	}
	return plain(e.Source)
}

// eventWords is what an event says: its message, or else its data on a line.
func eventWords(ctx context.Context, e view.Event) string {
	if e.Message != "" {
		return plain(e.Message)
	}
	var data struct {
		Kind, Name   string
		Lines, Bytes int
		Size         int64
	}
	// What does not fit is shown as it is.
	if (e.Type == "log" || e.Type == "artifact") && json.Unmarshal(e.Data, &data) == nil {
		if e.Type == "log" {
			return count(ctx, "event.printed", data.Lines)
		}
		return plain(data.Kind+" "+data.Name) + ", " + ui.Bytes(data.Size)
	}
	return ui.Cut(plain(string(e.Data)), 300)
}

// plain takes the colours of a terminal and other control characters out of a
// text that stands on one line.
func plain(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			i = len(s)
		}
		b.WriteString(strings.Map(func(r rune) rune {
			switch {
			case r == '\n' || r == '\t':
				return ' '
			case r < ' ' || r == 0x7f:
				return -1
			}
			return r
		}, s[:i]))
		s = afterEscape(s[i:])
	}
	return b.String()
}

// plainLabels are labels without control characters.
func plainLabels(labels map[string]string) map[string]string {
	out := make(map[string]string, len(labels))
	for k, v := range labels {
		out[plain(k)] = plain(v)
	}
	return out
}

// afterEscape is what follows the control sequence at the beginning of s.
func afterEscape(s string) string {
	if len(s) < 2 {
		return ""
	}
	if s[1] == ']' { // the title of a window, a link: up to a bell or the next escape
		if i := strings.IndexAny(s[2:], "\a\x1b"); i >= 0 {
			return strings.TrimPrefix(s[2+i+1:], `\`)
		}
		return ""
	}
	if s[1] != '[' {
		return s[2:]
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return s[i+1:]
		}
	}
	return ""
}
