package command

import (
	"bytes"
	"strings"
	"testing"
)

func TestRedraw(t *testing.T) {
	var out bytes.Buffer
	drawn := redraw(&out, []string{"a", "b"}, 0)
	drawn = redraw(&out, []string{"c"}, drawn)
	if want := "a\x1b[K\r\nb\x1b[K\r\n\x1b[J" + "\x1b[2Ac\x1b[K\r\n\x1b[J"; drawn != 1 || out.String() != want {
		t.Errorf("got %d, %q", drawn, out.String())
	}
}

func TestBar(t *testing.T) {
	for percent, full := range map[float64]int{-5: 0, 0: 0, 50: 10, 100: 20, 1e9: 20} {
		if got := strings.Count(Bar(percent), "█"); got != full {
			t.Errorf("%v%%: %d", percent, got)
		}
	}
}
