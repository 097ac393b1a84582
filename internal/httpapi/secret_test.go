package httpapi

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/vault"
)

// A rotation over HTTP takes an admin, uses the key that is first in the server's file
// now, names the secrets that it could not open, and reveals no value.
func TestRotateSecrets(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys")
	if _, err := vault.LoadKeys(path, true); err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	r.vault.Follow(path)
	r.user("boss", auth.Admin)
	boss := r.login("boss")
	for _, name := range []string{"one", "two", "broken"} {
		boss.want(http.StatusNoContent, "PUT", "/secrets/"+name, map[string]string{"value": "s3cr3t-value of " + name})
	}
	for _, role := range []auth.Role{auth.Viewer, auth.Operator, auth.Maintainer} {
		r.user("a-"+string(role), role)
		if got := r.login("a-"+string(role)).want(http.StatusForbidden, "POST", "/secrets/rotate", nil).refusal(); got.Code != "forbidden" {
			t.Errorf("%s: %+v", role, got)
		}
	}
	rotate := func() (done vault.Rotation) {
		t.Helper()
		got := boss.want(http.StatusOK, "POST", "/secrets/rotate", nil)
		if strings.Contains(string(got.body), "s3cr3t") {
			t.Errorf("a value is told: %s", got.body)
		}
		got.into(&done)
		return done
	}
	if done := rotate(); done.Before != 3 || done.Sealed != 0 || done.Left != 0 {
		t.Errorf("with the same key: %+v", done)
	}
	if err := vault.AddKey(path); err != nil {
		t.Fatal(err)
	}
	r.exec(`update weir.secrets set sealed = '\x01' where name = 'broken'`)
	done := rotate()
	if done.Sealed != 2 || done.Left != 1 || len(done.Failed) != 1 || done.Failed[0].Name != "broken" || done.Failed[0].Error == "" {
		t.Errorf("with a new key: %+v", done)
	}
	if again := rotate(); again.Key != done.Key || again.Before != 2 || again.Sealed != 0 || again.Left != 1 {
		t.Errorf("again: %+v", again)
	}
	// A secret that does not open is set again; then the old line may be removed.
	boss.want(http.StatusNoContent, "PUT", "/secrets/broken", map[string]string{"value": "s3cr3t-value anew"})
	if done := rotate(); done.Before != 3 || done.Left != 0 {
		t.Errorf("at the end: %+v", done)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(path, []byte(first+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if done := rotate(); done.Before != 3 || done.Left != 0 {
		t.Errorf("with the new key alone: %+v", done)
	}
}

// Reading all of the history is expensive for the database, so it takes an admin. Every
// other user is refused with that reason, and gets the usual report.
func TestDeepDoctorTakesAnAdmin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, role := range auth.Roles() {
		u := r.user("a-"+string(role), role)
		for _, who := range []*as{r.login(u.Name), r.token(u.Name, "*:*"), r.token(u.Name, "*:read")} {
			who.want(http.StatusOK, "GET", "/doctor", nil)
			if role == auth.Admin && !strings.HasSuffix(who.name, "*:read") {
				who.want(http.StatusOK, "GET", "/doctor?deep=true", nil)
				continue
			}
			got := who.want(http.StatusForbidden, "GET", "/doctor?deep=true", nil).refusal()
			if got.Code != "forbidden" || got.Next == "" {
				t.Errorf("%s: %+v", who.name, got)
			}
		}
	}
	r.anybody().want(http.StatusUnauthorized, "GET", "/doctor?deep=true", nil)
}
