package workcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// decodeFields reads a JSON object field by field, so that what is wrong can be
// said of the field it is in.
func decodeFields(text []byte, into any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return errors.New("expected fields with values")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		one, err := json.Marshal(map[string]json.RawMessage{name: fields[name]})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		decoder := json.NewDecoder(bytes.NewReader(one))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			return fieldError(name, err)
		}
	}
	return nil
}

// fieldError says what a field wants, in the words of people.
func fieldError(name string, err error) error {
	var kind *json.UnmarshalTypeError
	var date *time.ParseError
	switch {
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	case errors.As(err, &date):
		return fmt.Errorf("%s: expected a time such as 2026-01-31T08:00:00Z", name)
	case errors.As(err, &kind):
		if i := strings.Index(kind.Field, name); i >= 0 { // behind the name of what is embedded
			name = kind.Field[i:]
		}
		return fmt.Errorf("%s: expected %s, got %s", name, wanted(kind.Type), kind.Value)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// wanted is what a Go type is to somebody who writes YAML.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "fields with values"
	}
	return "a whole number"
}
