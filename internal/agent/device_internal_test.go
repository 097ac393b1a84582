package agent

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// The infrastructure of an attempt and the test itself have separate budgets, so each
// failure belongs to one of them.
func TestJudgeOfWorkOnADevice(t *testing.T) {
	for name, c := range map[string]struct {
		evidence
		cause string
		infra bool
	}{
		"a test that fails":             {evidence{exit: driver.Exit{Code: 1}}, "exit code 1", false},
		"a code for the infrastructure": {evidence{exit: driver.Exit{Code: 75}, infraOn: []int{74, 75}}, "exit code 75", true},
		"another code":                  {evidence{exit: driver.Exit{Code: 1}, infraOn: []int{74, 75}}, "exit code 1", false},
		"a driver that knows":           {evidence{exit: driver.Exit{Code: 1, Infra: true}}, "exit code 1", true},
		"the device is gone":            {evidence{exit: driver.Exit{Code: 1}, gone: true, last: "not found"}, "the device is lost: exit code 1: not found", true},
		"too long":                      {evidence{cause: tooLong(node.ByTimeout, "after %s", time.Second)}, "after 1s", false},
		"too long, and it is gone":      {evidence{cause: tooLong(node.ByTimeout, "after %s", time.Second), gone: true}, "the device is lost: after 1s", true},
		"told that it is gone":          {evidence{cause: &deviceLost{"unplugged"}}, "the device is lost: unplugged", true},
		"it could not be run":           {evidence{err: errors.New("disk full")}, "disk full", true},
		"it can never be run":           {evidence{err: &refused{errors.New("bad")}}, "bad", false},
		"a driver that refuses it":      {evidence{err: problem.Refuse("image", "", "no such")}, "image: no such", false},
		"it failed, and so did more":    {evidence{err: errors.New("no bucket"), exit: driver.Exit{Code: 1}}, "no bucket", false},
	} {
		e := c.evidence
		e.onDevice = true
		if got := judge(e); got.Verdict != node.Failed || got.Error != c.cause || got.Infra != c.infra {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, e := range map[string]evidence{"success": {onDevice: true}, "returned": {onDevice: true, cause: errLeaving, gone: true}, "no device": {exit: driver.Exit{Code: 75, Infra: true}, infraOn: []int{75}}} {
		if got := judge(e); got.Infra {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestArguments(t *testing.T) {
	d := node.Device{Serial: "R58M", Target: "10.0.0.1:5555"}
	for _, c := range []struct {
		device node.Device
		argv   []string
		want   []string
	}{
		{d, []string{"adb", "-s", "{target}", "shell", "--for={serial}@{target}"}, []string{"adb", "-s", "10.0.0.1:5555", "shell", "--for=R58M@10.0.0.1:5555"}},
		{node.Device{Serial: "R58M"}, []string{"{target}"}, []string{"R58M"}},
		{node.Device{Serial: "R58M", Target: "{serial}"}, []string{"{target}"}, []string{"{serial}"}}, // placeholders are replaced only once
		{d, []string{"sh", "-c", "echo $WEIR_DEVICE_SERIAL {other}"}, []string{"sh", "-c", "echo $WEIR_DEVICE_SERIAL {other}"}},
		{d, nil, nil},
	} {
		if got, err := arguments(c.argv, c.device); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v", c.argv, got, err)
		}
	}
	var bad *refused
	if got, err := arguments([]string{"sh", "-c", "adb -s {target} shell"}, d); !errors.As(err, &bad) {
		t.Errorf("a line for a shell: %q, %v", got, err)
	}
}
