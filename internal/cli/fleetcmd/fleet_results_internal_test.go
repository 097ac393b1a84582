package fleetcmd

import (
	"encoding/json"
	"testing"

	"github.com/weirhq/weir/internal/fleet"
)

// A JUnit file that was refused stands beside the result and does not hide it.
func TestResultText(t *testing.T) {
	refused := &fleet.Tests{Fault: "junit.xml: it is over 10 MB"}
	for want, r := range map[string]fleet.Result{
		"": {}, "adb offline": {Cause: "adb offline"}, `{"fps": 60}`: {Result: json.RawMessage(`{"fps": 60}`), Cause: "done"},
		"JUnit: junit.xml: it is over 10 MB":              {Tests: refused},
		"adb offline; JUnit: junit.xml: it is over 10 MB": {Tests: refused, Cause: "adb offline"},
		`{"fps": 60}; JUnit: junit.xml: it is over 10 MB`: {Tests: refused, Result: json.RawMessage(`{"fps": 60}`)},
	} {
		if got := resultText(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
