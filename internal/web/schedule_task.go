package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// taskJSON is the task of a schedule as somebody writes it. The names are those
// of the engine, which checks what they hold.
type taskJSON struct {
	Service     string            `json:"service"`
	Params      json.RawMessage   `json:"params,omitempty"`
	Key         string            `json:"key,omitempty"`
	Priority    int               `json:"priority,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	RunAt       time.Time         `json:"run_at,omitzero"`
	Hold        string            `json:"hold,omitempty"`
	Lane        string            `json:"lane,omitempty"`
	Rank        *int64            `json:"rank,omitempty"`
	Exclusive   bool              `json:"exclusive,omitempty"`
	Pool        string            `json:"pool,omitempty"`
	MaxAttempts int               `json:"max_attempts,omitempty"`
	Timeout     period            `json:"timeout,omitzero"`
	Backoff     period            `json:"backoff,omitzero"`
	BackoffCap  period            `json:"backoff_cap,omitzero"`
	Orphan      string            `json:"orphan,omitempty"`
	UniqueKey   string            `json:"unique_key,omitempty"`
	Trace       string            `json:"trace,omitempty"`
}

func (t taskJSON) task() weir.Task {
	out := weir.Task{
		Service: t.Service, Key: t.Key, Priority: t.Priority, Labels: t.Labels, RunAt: t.RunAt, Hold: t.Hold, Lane: t.Lane, Rank: t.Rank, Exclusive: t.Exclusive,
		Pool: t.Pool, MaxAttempts: t.MaxAttempts, Timeout: time.Duration(t.Timeout), Backoff: time.Duration(t.Backoff), BackoffCap: time.Duration(t.BackoffCap),
		Orphan: weir.Orphan(t.Orphan), UniqueKey: t.UniqueKey, Trace: t.Trace,
	}
	if len(t.Params) > 0 {
		out.Params = t.Params
	}
	return out
}

// period is a duration: 90s for people, 90000000 us as the engine keeps it.
type period time.Duration

// MarshalJSON implements [json.Marshaler].
func (p period) MarshalJSON() ([]byte, error) { return json.Marshal(spanText(time.Duration(p))) }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *period) UnmarshalJSON(text []byte) error {
	bad := errors.New("expected a duration such as 90s, 12h or 2d")
	var s string
	if json.Unmarshal(text, &s) != nil {
		return bad
	}
	if micro, kept := strings.CutSuffix(s, " us"); kept {
		n, err := strconv.ParseInt(micro, 10, 64)
		if err != nil {
			return bad
		}
		*p = period(time.Duration(n) * time.Microsecond)
		return nil
	}
	d, err := parseSpan(s)
	if err != nil || d < 0 {
		return bad
	}
	*p = period(d)
	return nil
}

// parseTask reads the task of a form. What is wrong names its field.
func parseTask(text string) (weir.Task, error) {
	refuse := func(format string, args ...any) error {
		return problem.Refuse("task", `write it so: {"service": "report", "params": {"day": "yesterday"}}`, format, args...)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		var at *json.SyntaxError
		if errors.As(err, &at) {
			return weir.Task{}, refuse("this is not JSON: %v, near line %d", at, 1+strings.Count(text[:min(int(at.Offset), len(text))], "\n"))
		}
		return weir.Task{}, refuse("a task is an object with fields")
	}
	if fields == nil {
		return weir.Task{}, refuse("a task is an object with fields")
	}
	var t taskJSON
	// Field by field, so that a refusal can say which one.
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		one, err := json.Marshal(map[string]json.RawMessage{name: fields[name]})
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(one))
			d.DisallowUnknownFields()
			err = d.Decode(&t)
		}
		if err != nil {
			return weir.Task{}, refuse("%s: %s", name, jsonFault(err))
		}
	}
	if t.Service == "" {
		return weir.Task{}, refuse("service: say who does the work")
	}
	return t.task(), nil
}

func jsonFault(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return "a task has no such field"
	case errors.As(err, &kind):
		return "a " + kind.Value + " does not belong here"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too soon"
	}
	return err.Error()
}

// taskText is a task that is kept, as a form shows it.
func taskText(kept json.RawMessage) string {
	var t taskJSON
	var indented bytes.Buffer
	if json.Unmarshal(kept, &t) == nil {
		e := json.NewEncoder(&indented)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if e.Encode(t) == nil {
			return strings.TrimSpace(indented.String())
		}
	}
	// Somebody wrote it by SQL in another way; it is shown as it is.
	indented.Reset()
	if json.Indent(&indented, kept, "", "  ") != nil {
		return string(kept)
	}
	return indented.String()
}
