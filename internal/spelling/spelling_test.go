package spelling_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/spelling"
)

func TestWord(t *testing.T) {
	words := []string{"node", "nodes", "timeout", "retries", "ok", "CREATE", "length"}
	for text, want := range map[string]string{
		"noed": "node", "nodess": "nodes", "timout": "timeout", "tiemout": "timeout", "Retries": "retries",
		"creat": "CREATE", "ok": "ok", "oj": "", "lengths": "length", "created": "CREATE", "timeouts_of_it": "timeout", "tim": "", "x": "", "": "", "nothing like it": "", strings.Repeat("n", 1000): "",
	} {
		if got := spelling.Closest(text, words); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}
