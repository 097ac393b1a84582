package demo

import (
	"io"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent/device/simulate"
	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
)

// silent is an output that nobody reads.
type silent struct{}

func (silent) Stdout() io.Writer             { return io.Discard }
func (silent) Stderr() io.Writer             { return io.Discard }
func (silent) Taken() (stdout, stderr int64) { return 0, 0 }
func (silent) Alive()                        {}

// One device of the demo fails whatever runs on it, and comes early in its turn: that
// is the quarantine which the dashboard shows. All others get their work done.
func TestLabHasABadDevice(t *testing.T) {
	var bad []string
	for _, config := range Labs {
		config.Shortest, config.Longest = time.Millisecond, time.Millisecond
		phones, err := simulate.New(config)
		if err != nil {
			t.Fatal(err)
		}
		list, err := phones.List(t.Context())
		if err != nil || len(list.Devices) != config.Devices {
			t.Fatalf("%s has %d devices: %v", config.PC, len(list.Devices), err)
		}
		for _, d := range list.Devices {
			if failsAlways(t, phones, d) {
				bad = append(bad, d.Serial)
			}
		}
		if err := phones.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(bad) != 1 || bad[0] != "SIM-demo-pc-3-0003" {
		t.Errorf("the bad devices are %q", bad)
	}
}

// failsAlways says whether attempts on a device fail, whichever it is.
func failsAlways(t *testing.T, phones *simulate.Lab, d node.Device) bool {
	t.Helper()
	for n := range 12 {
		running, err := phones.Start(t.Context(), driver.Work{Task: d.Serial, Attempt: n + 1, Fence: "f", Device: &d}, silent{})
		if err != nil {
			t.Fatal(err)
		}
		exit, err := running.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if exit.Code == 0 {
			return false
		}
	}
	return true
}
