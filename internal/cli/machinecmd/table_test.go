package machinecmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
)

// Colour is for terminals; the words stay the same without it.
func TestTableColour(t *testing.T) {
	rows := []view.Worker{{Name: "w", State: "live", Services: []string{"a"}}}
	text := func(color bool) string {
		var out bytes.Buffer
		o := &command.Output{Streams: command.Streams{Out: &out, Err: &out}, Format: "table", Color: color, Now: time.Now()}
		if err := workerListing.Print(o, rows); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := text(false); strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
	if got := text(true); !strings.Contains(got, "\x1b[32mlive\x1b[0m") || command.StripEscapes(got) != text(false) {
		t.Errorf("got %q", got)
	}
}
