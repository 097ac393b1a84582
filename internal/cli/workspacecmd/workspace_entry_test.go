package workspacecmd

import (
	"encoding/json"
	"testing"

	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

func TestWorkspaceEntrySays(t *testing.T) {
	for _, c := range []struct {
		kind, message, data, want string
	}{
		{"wanted", "it stood by for 14s", `{"was": "STANDBY", "desired": "ARCHIVED"}`, "ARCHIVED: it stood by for 14s"},
		{"wanted", "", `{"desired": "RUNNING"}`, "RUNNING"},
		{"wanted", "no data", ``, "no data"},
		{"changed", "", `{"was": "notes", "name": "notes", "standby_ttl": "5400.000000 s", "archive_ttl": null}`, "standby_ttl 1h30m; archive_ttl as the policy says"},
		{"changed", "", `{"was": "notes", "name": "ideas", "description": null}`, "name ideas, before notes; no description of its own"},
		{"changed", "", `{"was": "notes", "image": "go:1.26"}`, "image go:1.26"},
		{"began", "STARTING", ``, ""},
		{"failed", "no room", ``, "no room"},
	} {
		e := workspace.Entry{Type: c.kind, Message: c.message, Data: json.RawMessage(c.data), Operation: ladder.Starting}
		if got := entrySays(e); got != c.want {
			t.Errorf("%s %s: %q", c.kind, c.data, got)
		}
	}
}
