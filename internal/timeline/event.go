package timeline

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir"
)

// Event is one line of the timeline. All followers share it: read it, never change it.
// The JSON names are those of the public views.
type Event struct {
	// Cursor is where to continue after this event was handled.
	Cursor  weir.Cursor     `json:"cursor,omitempty"`
	Seq     int64           `json:"seq"`
	At      time.Time       `json:"at"`
	Type    string          `json:"type"`
	Kind    string          `json:"kind"`
	Subject string          `json:"subject,omitempty"`
	Job     weir.ID         `json:"job,omitzero"`
	Task    weir.ID         `json:"task,omitzero"`
	Attempt int             `json:"attempt,omitempty"`
	Worker  string          `json:"worker,omitempty"`
	Source  string          `json:"source,omitempty"`
	Level   string          `json:"level"`
	Message string          `json:"message,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`

	place place
	once  sync.Once
	form  []byte
}

// Encoded returns the result of encode for the event, the same bytes for all followers:
// the first caller has it made. All callers must ask for the same form.
func (e *Event) Encoded(encode func(*Event) []byte) []byte {
	e.once.Do(func() { e.form = encode(e) })
	return e.form
}

// weight returns about how much memory the event takes, its encoded form included.
func (e *Event) weight() int {
	const fixed = 640
	return fixed + 2*(len(e.Message)+len(e.Data)+len(e.Subject)+len(e.Worker)+len(e.Source))
}

// Filter selects events. The zero value selects all.
type Filter struct {
	Job, Task weir.ID
	// Kinds and Types are the selected ones; empty means all.
	Kinds, Types []string
	// Match decides about the remaining events, if it is not nil. The goroutine that
	// calls Next calls it, once for each event.
	Match func(*Event) bool
}

// wants reports whether the filter selects an event, as [read] does in the database,
// except for Match.
func (f *Filter) wants(e *Event) bool {
	return (f.Job.IsZero() || e.Job == f.Job) && (f.Task.IsZero() || e.Task == f.Task) &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind)) && (len(f.Types) == 0 || slices.Contains(f.Types, e.Type)) &&
		(f.Match == nil || f.Match(e))
}

// all reports whether the filter selects everything.
func (f *Filter) all() bool {
	return f.Job.IsZero() && f.Task.IsZero() && len(f.Kinds) == 0 && len(f.Types) == 0 && f.Match == nil
}
