package flowpages

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// parseTask reads the task of a form. What is wrong names its field.
func parseTask(text string) (work.TaskSpec, error) {
	refuse := func(format string, args ...any) error {
		return problem.Refuse("task", `write it so: {"service": "report", "params": {"day": "yesterday"}}`, format, args...)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		var at *json.SyntaxError
		if errors.As(err, &at) {
			return work.TaskSpec{}, refuse("this is not JSON: %v, near line %d", at, 1+strings.Count(text[:min(int(at.Offset), len(text))], "\n"))
		}
		return work.TaskSpec{}, refuse("a task is an object with fields")
	}
	if fields == nil {
		return work.TaskSpec{}, refuse("a task is an object with fields")
	}
	var t work.TaskSpec
	// Field by field, so that a refusal can say which one.
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		one, err := json.Marshal(map[string]json.RawMessage{name: fields[name]})
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(one))
			d.DisallowUnknownFields()
			err = d.Decode(&t)
		}
		if err != nil {
			return work.TaskSpec{}, refuse("%s: %s", name, jsonFault(err))
		}
	}
	if t.Service == "" {
		return work.TaskSpec{}, refuse("service: say who does the work")
	}
	return t, nil
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
	var t work.TaskSpec
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
