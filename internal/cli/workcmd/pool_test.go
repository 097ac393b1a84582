package workcmd

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/cli/command"
)

func TestReadRate(t *testing.T) {
	for text, want := range map[string]string{"10/1m": "10/1m", "5/s": "5/1s", "1/90s": "1/1m30s", "100/1d": "100/1d"} {
		n, per, err := readRate(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := strings.Join([]string{itoa(*n), command.Every(time.Duration(per).Seconds())}, "/"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"10", "/1m", "0/1m", "-1/1m", "x/1m", "10/forever", "10/-1m"} {
		if _, _, err := readRate(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
