package cli

import (
	"strings"
	"testing"
)

func TestVersionWarning(t *testing.T) {
	if got := (serverVersion{Version: "v1.2.3", API: apiVersion}).warning(); got != "" {
		t.Errorf("the same API: %s", got)
	}
	got := (serverVersion{Version: "v9.0.0", API: "v2"}).warning()
	if !strings.Contains(got, "API v2") || !strings.Contains(got, "install version v9.0.0") {
		t.Errorf("another API: %q", got)
	}
}
