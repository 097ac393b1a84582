package fleetcmd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
)

// A tree has a line per PC and per device, fits the width, and drops first what is done.
func TestDrawFleet(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	began := now.Add(-12 * time.Second)
	p := fleetPage{Job: fleet.Job{Name: "nightly", State: "active", ActivatedAt: &began, Counts: fleet.Counts{Total: 9, Done: 2, Failed: 1}}, why: "active: 5 waiting"}
	add := func(pc, device, state, cause string) {
		p.Units = append(p.Units, fleet.Unit{Unit: len(p.Units) + 1, Round: 1, PC: pc, Device: device, State: state, Cause: cause, Attempt: 2, StartedAt: &began})
	}
	add("", "", fleet.UnitWaiting, "")
	add("PC-02", "c", fleet.UnitFailed, "no screen\x1b[31m")
	add("PC-01", "a", fleet.UnitDone, "")
	add("PC-01", "b", fleet.UnitRunning, "")
	add("PC-01", "e", fleet.UnitDone, "")
	for i := range 4 {
		add("PC-02", fmt.Sprintf("d%d", i), fleet.UnitWaiting, "")
	}
	o := &command.Output{Now: now, Width: 60}
	lines := drawFleet(o, p, 40)
	for n, line := range lines {
		if command.Cells(line) > o.Width {
			t.Errorf("line %d has %d cells: %s", n, command.Cells(line), line)
		}
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{"nightly  active  3/9  12s", "  active: 5 waiting\n", "  PC-01   █", "2 of 3 ended", "    ● b  running   12s, attempt 2", "    ✗ c  failed    no screen\n", "  any PC  ░", "    ○ any #1  waiting"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Index(got, "any PC") < strings.Index(got, "PC-02") || strings.Index(got, "PC-02") < strings.Index(got, "PC-01") {
		t.Errorf("the PCs are not in order:\n%s", got)
	}
	small := strings.Join(drawFleet(o, p, 9), "\n")
	if !strings.Contains(small, "✗ c") || !strings.Contains(small, "● b") || strings.Contains(small, "✓") || !strings.Contains(small, "… and ") {
		t.Errorf("the small tree:\n%s", small)
	}
	if tiny := drawFleet(o, p, 4); len(tiny) > 6 || !strings.Contains(strings.Join(tiny, "\n"), "PC-01") {
		t.Errorf("the tiny tree:\n%s", strings.Join(tiny, "\n"))
	}
}

// Targets are read as people write them.
func TestReadTarget(t *testing.T) {
	got, err := readTarget([]string{"all", "tag=kiosk", "label=a=b=c", "device=A1,B2", "device=C3"})
	if err != nil || !got.All || got.Tag != "kiosk" || got.Labels["a"] != "b=c" || strings.Join(got.Devices, " ") != "A1 B2 C3" {
		t.Errorf("%+v: %v", got, err)
	}
	if got, err := readTarget([]string{"label=os", "label=android>=13"}); err != nil || strings.Join(got.Match, " ") != "os android>=13" {
		t.Errorf("%+v: %v", got, err)
	}
	for _, bad := range []string{"", "every", "tag=", "label=", "label==b", "device="} {
		if _, err := readTarget([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
