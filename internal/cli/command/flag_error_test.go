package command

import (
	"slices"
	"strings"
	"testing"
)

// A number below zero is an argument of task priority, and a flag elsewhere.
func TestKeepNegative(t *testing.T) {
	for line, want := range map[string]string{
		"task priority ID -5":                "task|priority|ID| -5",
		"tasks priority ID -5 -o json":       "tasks|priority|ID| -5|-o|json",
		"task priority ID 5":                 "task|priority|ID|5",
		"task submit priority --priority -5": "task|submit|priority|--priority|-5",
		"task list -5":                       "task|list|-5",
	} {
		args := strings.Fields(line)
		if got := strings.Join(KeepNegative(slices.Clone(args)), "|"); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}
