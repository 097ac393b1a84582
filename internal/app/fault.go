package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

// ConfigError names every fault of a configuration.
type ConfigError struct{ Faults []Fault }

// Fault is one thing that is wrong, and where it was said.
type Fault struct{ Setting, Origin, Text string }

func (f Fault) String() string {
	where := f.Setting
	if f.Origin != "" && f.Origin != where {
		where = strings.TrimPrefix(where+" (from "+f.Origin+")", " ")
	}
	return where + ": " + f.Text
}

// Unwrap says whose fault it is, and where to look.
func (e *ConfigError) Unwrap() error {
	return &problem.Problem{Kind: problem.Invalid, What: e.Error(), Next: "weir config shows each value and where it comes from"}
}

func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	if len(lines) == 1 {
		return "the configuration is wrong: " + lines[0]
	}
	return fmt.Sprintf("the configuration has %d faults:\n  %s", len(lines), strings.Join(lines, "\n  "))
}

// faults collects.
type faults []Fault

func (f *faults) add(setting, format string, args ...any) {
	*f = append(*f, Fault{Setting: setting, Text: fmt.Sprintf(format, args...)})
}

func (f *faults) check(setting string, err error) {
	if err != nil {
		f.add(setting, "%s", err)
	}
}

func (f *faults) addFrom(setting, origin string, err error) {
	*f = append(*f, Fault{setting, origin, err.Error()})
}

func (f *faults) addFile(path string, err error) {
	*f = append(*f, Fault{Setting: path, Text: err.Error()})
}

// take adds the faults of a validation, with the origins of the values.
func (f *faults) take(e *ConfigError, values []Value) {
	for _, x := range e.Faults {
		i := slices.IndexFunc(values, func(v Value) bool { return v.Name == x.Setting })
		if i >= 0 && values[i].Origin != "default" {
			x.Origin = values[i].Origin
		}
		*f = append(*f, x)
	}
}

func (f *faults) err() error {
	if len(*f) == 0 {
		return nil
	}
	return &ConfigError{*f}
}
