package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node/wire"
)

// A reader of a long log goes back page by page, and finds lines by a pattern.
func TestPagesOfALog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := r.vault.Put(t.Context(), "test", "api_key", "canary-value", ""); err != nil {
		t.Fatal(err)
	}
	n1 := r.registered("n1")
	r.submit()
	a := n1.claim(claimOne)
	for seq := range 3 {
		var lines strings.Builder
		for n := range 10 {
			fmt.Fprintf(&lines, "{\"stream\":\"stdout\",\"text\":\"line %d of chunk %d\"}\n", n, seq)
		}
		n1.want(http.StatusNoContent, "POST", "/agent/logs", wire.Log{Lease: a.Lease, Seq: seq, Lines: []byte(lines.String())})
	}
	r.user("vic", auth.Viewer)
	vic := r.login("vic")
	path := "/tasks/" + a.Task.String() + "/log?attempt=1"
	for query, want := range map[string]struct {
		lines       int
		first, last string
	}{
		"&tail=5":                  {5, "line 5 of chunk 2", "line 9 of chunk 2"},
		"&before=2.6&tail=5":       {5, "line 0 of chunk 2", "line 4 of chunk 2"},
		"&before=2.1":              {20, "line 0 of chunk 0", "line 9 of chunk 1"},
		"&grep=7+of+chunk+[01]":    {2, "line 7 of chunk 0", "line 7 of chunk 1"},
		"&grep=line+9&before=2.10": {2, "line 9 of chunk 0", "line 9 of chunk 1"},
		"&grep=nowhere":            {},
	} {
		got := strings.Split(strings.TrimSpace(string(vic.want(http.StatusOK, "GET", path+query, nil).body)), "\n")
		if want.lines == 0 && got[0] == "" {
			continue
		}
		if len(got) != want.lines || !strings.Contains(got[0], want.first) || !strings.Contains(got[len(got)-1], want.last) {
			t.Errorf("%s: %d lines, %q to %q", query, len(got), got[0], got[len(got)-1])
		}
	}
	for query, field := range map[string]string{
		"&before=x": "before", "&grep=(": "grep", "&grep=" + strings.Repeat("a", 2000): "grep", "&grep=a&tail=5": "grep",
	} {
		if got := vic.want(http.StatusUnprocessableEntity, "GET", path+query, nil); !strings.Contains(string(got.body), `"`+field+`"`) {
			t.Errorf("%.40s: %s", query, got.body)
		}
	}
}
