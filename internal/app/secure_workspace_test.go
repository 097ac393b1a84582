package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/auth"
)

// The code that opens a workspace and the cookie that it becomes are in no log and no
// table, used or not, rightly or wrongly; the cookie opens nothing else.
func TestSecureWorkspaceCanary(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	admin := f.person(auth.Admin)
	f.person(auth.Viewer)
	var made struct{ ID string }
	got := f.wants(http.StatusCreated, "POST", apiPrefix+"/workspaces", with(admin), object("name", "notes", "provider", "process", "desired", "STANDBY"))
	if err := json.Unmarshal([]byte(got.body), &made); err != nil {
		t.Fatal(err)
	}
	secrets := canaries{}
	open := func(name string) string {
		var opened struct{ URL string }
		got := f.wants(http.StatusOK, "POST", apiPrefix+"/workspaces/"+made.ID+"/open", with(admin))
		if err := json.Unmarshal([]byte(got.body), &opened); err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(opened.URL)
		if err != nil || len(u.Query().Get("code")) < 40 {
			t.Fatalf("opened at %s: %v", opened.URL, err)
		}
		secrets[name] = u.Query().Get("code")
		return u.RequestURI()
	}
	host := "ws-" + made.ID + ".localhost"
	open("unused code")
	f.wants(http.StatusUnauthorized, "GET", strings.Replace(open("code on another host"), "next", "x", 1), calling("ws-"+noID+".localhost"))
	link := open("code")
	entered := f.wants(http.StatusSeeOther, "GET", link, calling(host))
	f.wants(http.StatusUnauthorized, "GET", link, calling(host))
	cookies := entered.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].Domain != "" {
		t.Fatalf("it sets %v", cookies)
	}
	secrets["cookie"] = cookies[0].Value
	if inside := f.ask("GET", "/", calling(host), with(cookies[0])); inside.StatusCode == http.StatusUnauthorized {
		t.Errorf("the cookie does not open it: %d", inside.StatusCode)
	}
	// Elsewhere it opens nothing, whatever it is called: one is sent to the dashboard.
	if to := f.wants(http.StatusSeeOther, "GET", "/", calling("ws-"+noID+".localhost"), with(cookies[0])).to(); !strings.HasPrefix(to, "http://"+f.listen+"/workspaces/"+noID+"/open?") {
		t.Errorf("on another host it leads to %s", to)
	}
	for _, name := range []string{cookies[0].Name, "weir_session", "__Host-weir_session"} {
		f.wants(http.StatusUnauthorized, "GET", apiPrefix+"/me", with(&http.Cookie{Name: name, Value: cookies[0].Value}))
	}
	f.wants(http.StatusUnauthorized, "GET", apiPrefix+"/me", bearer(secrets["unused code"]))
	secrets.in(t, "the log", f.log.String())
	f.tables(secrets)
}
