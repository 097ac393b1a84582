package timeline

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir"
)

// Event is one line of the timeline. It is shared by everybody who follows:
// read it, never change it. The JSON names are those of the public views.
type Event struct {
	// Cursor is where to go on when this event has been dealt with.
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

// Encoded returns what encode makes of the event, the same bytes for all
// followers: the first who asks has it made. All must ask for the same form.
func (e *Event) Encoded(encode func(*Event) []byte) []byte {
	e.once.Do(func() { e.form = encode(e) })
	return e.form
}

// weight is about what the event takes in memory, its encoded form included.
func (e *Event) weight() int {
	const fixed = 640
	return fixed + 2*(len(e.Message)+len(e.Data)+len(e.Subject)+len(e.Worker)+len(e.Source))
}

// Filter says which events are wanted. The zero value wants all.
type Filter struct {
	Job, Task weir.ID
	// Kinds and Types are those wanted; none: all.
	Kinds, Types []string
	// Match decides about what is left, if it is not nil. It is asked by the
	// goroutine that calls Next, about each event once.
	Match func(*Event) bool
}

// wants decides about one event, as [read] does in the database but for Match.
func (f *Filter) wants(e *Event) bool {
	return (f.Job.IsZero() || e.Job == f.Job) && (f.Task.IsZero() || e.Task == f.Task) &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind)) && (len(f.Types) == 0 || slices.Contains(f.Types, e.Type)) &&
		(f.Match == nil || f.Match(e))
}

// all says that nothing is filtered out.
func (f *Filter) all() bool {
	return f.Job.IsZero() && f.Task.IsZero() && len(f.Kinds) == 0 && len(f.Types) == 0 && f.Match == nil
}
