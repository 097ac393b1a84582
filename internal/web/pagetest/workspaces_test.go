package pagetest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/webtest"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// settle makes a workspace of a user and says that it was seen in a phase.
func settle(t *testing.T, s *webtest.Server, owner, name, description string, phase ladder.Phase) weir.ID {
	t.Helper()
	u, err := s.Auth.User(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	user, err := weir.ParseID(u.ID)
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := s.Workspaces.Create(t.Context(), owner, workspace.Draft{Owner: user, Name: name, Description: description, Provider: "docker", Desired: phase})
	if err != nil {
		t.Fatal(err)
	}
	if phase == ladder.Running || phase == ladder.Standby {
		seen := ladder.Conditions{Volume: ladder.Condition{Status: true}, Archive: ladder.Condition{Reason: "NoArchive"}, Container: ladder.Condition{Status: phase == ladder.Running}, Healthy: ladder.Condition{Status: true}}
		rows, err := json.Marshal([]map[string]any{{"id": id, "conditions": seen, "phase": phase, "mounted": 0, "generation": 1}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.DB.Pool.Exec(t.Context(), `select weir.workspace_see($1)`, rows); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// The list says what to do when it is empty, makes workspaces by a form, and offers only
// what the reader may use.
func TestWorkspaceForm(t *testing.T) {
	s := webtest.Start(t)
	otto, ada := s.Login(t, "otto", auth.Operator), s.Login(t, "ada", auth.Admin)
	otto.Get(t, "/workspaces").Is(t, 200).Has(t, "No workspace yet", "weir workspace create notes --watch", `href="/new-workspace"`).Lacks(t, "Everybody")
	otto.Get(t, "/new-workspace").Is(t, 200).Has(t, `value="docker"`).Lacks(t, `value="process"`)
	ada.Get(t, "/new-workspace").Is(t, 200).Has(t, `value="docker"`, `value="process"`)
	otto.Post(t, "/new-workspace", form("name", "Bad Name", "provider", "docker")).Is(t, http.StatusUnprocessableEntity).Has(t, `value="Bad Name"`, `aria-invalid="true"`)
	otto.Post(t, "/new-workspace", form("name", "notes", "provider", "docker", "standby_ttl", "1s")).Is(t, http.StatusUnprocessableEntity).Has(t, "too short")
	otto.Post(t, "/new-workspace", form("name", "notes", "provider", "process")).Is(t, http.StatusForbidden)
	to := otto.Post(t, "/new-workspace", form("name", "notes", "provider", "docker", "standby_ttl", "20m", "description", evil)).Is(t, http.StatusSeeOther).To()
	otto.Get(t, to).Is(t, 200).Has(t, "notes is made.", `data-phase="PENDING"`, "20m", `data-rung="RUNNING"`).Lacks(t, "<script>alert", "<img src=x")
	otto.Get(t, "/workspaces").Has(t, `data-name="notes"`).Lacks(t, "<script>alert", "<img src=x")
	otto.Get(t, "/workspaces?phase=RUNNING").Is(t, 200).Has(t, "No workspace matches")
	otto.Get(t, "/workspaces?phase=ASLEEP").Is(t, http.StatusUnprocessableEntity)
	for _, at := range []string{"/new-workspace", to + "/change"} {
		otto.Post(t, at, form("name", "other", "provider", "docker", "image", "evil:1")).Is(t, http.StatusUnprocessableEntity).Has(t, "evil:1 is not allowed, these are: go")
	}
	otto.Post(t, to+"/change", form("name", "ideas", "description", "", "image", "go:1.26", "standby_ttl", "", "archive_ttl", "")).Is(t, http.StatusSeeOther)
	otto.Get(t, to+"/change").Has(t, `value="go:1.26"`)
	otto.Get(t, to).Has(t, "ideas", "10m", "Name: ideas", "<code>go:1.26</code>").Lacks(t, evil)
	s.Login(t, "vera", auth.Viewer).Get(t, "/workspaces").Is(t, 200).Lacks(t, `href="/new-workspace"`)
}

// A card offers what can be done where the workspace stands, and says what happens next.
func TestWorkspaceCards(t *testing.T) {
	s := webtest.Start(t)
	otto := s.Login(t, "otto", auth.Operator)
	runs, stands := settle(t, s, "otto", "one", "", ladder.Running), settle(t, s, "otto", "two", "", ladder.Standby)
	page := otto.Get(t, "/workspaces").Is(t, 200)
	page.Has(t, `data-next="stops"`, `data-next="archives"`, `data-rel="until"`, "/workspaces/"+runs.String()+"/open", "/workspaces/"+runs.String()+"/stop", "/workspaces/"+stands.String()+"/start")
	page.Lacks(t, "/workspaces/"+runs.String()+"/start", "/workspaces/"+stands.String()+"/stop")
	to := otto.Post(t, "/workspaces/"+runs.String()+"/stop?from=list", form("reason", "enough")).Is(t, http.StatusSeeOther).To()
	if to != "/workspaces" {
		t.Errorf("it leads to %s", to)
	}
	otto.Get(t, to).Has(t, "one: Standby is wanted.", `data-desired="STANDBY"`)
	otto.Get(t, "/workspaces/"+runs.String()).Is(t, 200).Has(t, `data-condition="storage.volume_ready"`, `data-status="true"`, "data-why", `data-entry="wanted"`, "Standby: enough")
	otto.Get(t, "/workspaces/"+runs.String()+"/log").Is(t, 200).Has(t, `data-entry="created"`)
	otto.Get(t, "/workspaces/"+runs.String()+"/output").Is(t, 200).Has(t, "No output")
	open := otto.Get(t, "/workspaces/"+runs.String()+"/open?next=/files").Is(t, http.StatusSeeOther).To()
	if !strings.HasPrefix(open, "http://ws-"+runs.String()+".localhost:8470/_weir/enter?code=") || !strings.HasSuffix(open, "next=%2Ffiles") {
		t.Errorf("it opens at %s", open)
	}
	otto.Get(t, "/workspaces/"+runs.String()+"/delete").Is(t, 200).Has(t, "Delete the workspace one?")
	otto.Post(t, "/workspaces/"+runs.String()+"/delete", form()).Is(t, http.StatusSeeOther)
}

// Over the limit the page says so and names what runs. What cannot be seen is said, too.
func TestWorkspaceLimitAndOutage(t *testing.T) {
	s := webtest.Start(t)
	otto := s.Login(t, "otto", auth.Operator)
	one := settle(t, s, "otto", "one", "", ladder.Running)
	settle(t, s, "otto", "two", "", ladder.Running)
	otto.Post(t, "/new-workspace", form("name", "three", "provider", "docker")).Is(t, http.StatusTooManyRequests).Has(t, "2 of your workspaces run or are about to; 2 may.", "first: ", "one", "two")
	third := settle(t, s, "otto", "three", "", ladder.Standby)
	otto.Post(t, "/workspaces/"+third.String()+"/start", form()).Is(t, http.StatusTooManyRequests).Has(t, "There is no room for one more", `<a href="/workspaces/`+one.String()+`">one</a>`, ">two</a>")
	s.Exec(t, `update weir.workspace_policy set unknown_at = now(), unknown = 'docker: it does not answer'`)
	otto.Get(t, "/workspaces").Is(t, 200).Has(t, "data-unseen", "docker: it does not answer")
	s.Exec(t, `update weir.workspace_policy set unknown_at = null, unknown = null`)
}

// A workspace is its owner's: for others it is not there. An admin sees all.
func TestWorkspacesOfOthers(t *testing.T) {
	s := webtest.Start(t)
	s.User(t, "otto", auth.Operator)
	id := settle(t, s, "otto", "notes", "", ladder.Running)
	olga, ada := s.Login(t, "olga", auth.Operator), s.Login(t, "ada", auth.Admin)
	olga.Get(t, "/workspaces").Is(t, 200).Lacks(t, `data-name="notes"`)
	olga.Get(t, "/workspaces?whose=all").Is(t, http.StatusForbidden)
	for _, path := range []string{"", "/log", "/output", "/open", "/delete", "/recover", "/change"} {
		olga.Get(t, "/workspaces/"+id.String()+path).Is(t, http.StatusNotFound)
	}
	for _, path := range []string{"/start", "/stop", "/archive", "/delete", "/recover", "/change"} {
		olga.Post(t, "/workspaces/"+id.String()+path, form()).Is(t, http.StatusNotFound)
	}
	ada.Get(t, "/workspaces").Is(t, 200).Has(t, "Everybody&#39;s").Lacks(t, `data-name="notes"`)
	ada.Get(t, "/workspaces?whose=all").Is(t, 200).Has(t, `data-name="notes"`, "of otto")
	ada.Get(t, "/workspaces/"+id.String()).Is(t, 200).Has(t, "of otto")
}

// A server without workspaces says what to set.
func TestWorkspacesOff(t *testing.T) {
	s := webtest.Start(t, func(c *site.Config) { c.Workspaces = nil })
	ada := s.Login(t, "ada", auth.Admin)
	ada.Get(t, "/workspaces").Is(t, 200).Has(t, "This server runs no workspaces", "workspace_providers")
	ada.Get(t, "/new-workspace").Is(t, http.StatusNotFound)
}

// What holds for all workspaces is shown to everybody and changed by admins.
func TestWorkspacePolicy(t *testing.T) {
	s := webtest.Start(t)
	otto, ada := s.Login(t, "otto", auth.Operator), s.Login(t, "ada", auth.Admin)
	otto.Get(t, "/workspaces").Is(t, 200).Has(t, `href="/workspaces/policy"`)
	otto.Get(t, "/workspaces/policy").Is(t, 200).Has(t, "Of a user run at once", "for ever", "12h").Lacks(t, "/workspaces/policy/change")
	otto.Get(t, "/workspaces/policy/change").Is(t, http.StatusForbidden)
	otto.Post(t, "/workspaces/policy/change", form("per_user", "9", "in_all", "9")).Is(t, http.StatusForbidden)
	ada.Get(t, "/workspaces/policy").Is(t, 200).Has(t, "/workspaces/policy/change")
	ada.Get(t, "/workspaces/policy/change").Is(t, 200).Has(t, `value="10m"`, `value="30m"`, `value="100"`)
	change := func(name, value string) url.Values {
		v := url.Values{"per_user": {"3"}, "in_all": {"50"}, "standby_ttl": {"20m"}, "archive_ttl": {"2h"}, "max_life": {"12h"}, "busy_most": {"1h"}}
		v.Set(name, value)
		return v
	}
	for name, value := range map[string]string{"per_user": "-1", "in_all": "many", "standby_ttl": "1s", "archive_ttl": "", "max_life": "5s", "busy_most": "soon"} {
		ada.Post(t, "/workspaces/policy/change", change(name, value)).Is(t, http.StatusUnprocessableEntity).Has(t, `aria-describedby="about-`+name+`" aria-invalid="true"`)
	}
	if p, err := s.Workspaces.Policy(t.Context()); err != nil || p.PerUser != 2 || p.MaxLife != 0 {
		t.Errorf("what was refused has changed something: %+v, %v", p, err)
	}
	to := ada.Post(t, "/workspaces/policy/change", change("per_user", "3")).Is(t, http.StatusSeeOther).To()
	ada.Get(t, to).Is(t, 200).Has(t, "The policy is changed.", "20m", "2h", "12h").Lacks(t, "for ever")
	ada.Post(t, "/workspaces/policy/change", change("max_life", "")).Is(t, http.StatusSeeOther)
	ada.Get(t, to).Has(t, "for ever")
}

// A change of the name leaves the times the policy's, so that they go with it.
func TestWorkspaceKeepsThePolicysTimes(t *testing.T) {
	s := webtest.Start(t)
	otto := s.Login(t, "otto", auth.Operator)
	id := settle(t, s, "otto", "notes", "", ladder.Standby)
	on := "/workspaces/" + id.String()
	otto.Get(t, on+"/change").Is(t, 200).Lacks(t, `value="10m"`, `value="30m"`)
	otto.Post(t, on+"/change", form("name", "ideas", "archive_ttl", "45m")).Is(t, http.StatusSeeOther)
	s.Exec(t, `update weir.workspace_policy set standby_ttl = '25 min', archive_ttl = '26 min'`)
	otto.Get(t, on).Is(t, 200).Has(t, "ideas", "25m", "45m")
	otto.Get(t, on+"/change").Is(t, 200).Has(t, `value="45m"`).Lacks(t, `value="25m"`)
}

// The search finds workspaces by a part of the name or the id: one's own, for an admin
// everybody's.
func TestWorkspaceSearch(t *testing.T) {
	s := webtest.Start(t)
	otto, olga, ada := s.Login(t, "otto", auth.Operator), s.Login(t, "olga", auth.Operator), s.Login(t, "ada", auth.Admin)
	notes := settle(t, s, "otto", "field-notes", "about rivers", ladder.Running)
	settle(t, s, "otto", "rivers", "", ladder.Standby)
	on := "/workspaces/" + notes.String()
	for _, text := range []string{"notes", "Field", notes.String()} {
		for name, who := range map[string]*webtest.Client{"the owner": otto, "an admin": ada} {
			if to := who.Get(t, "/search?q="+text).To(); to != on {
				t.Errorf("%s finds by %s %q", name, text, to)
			}
		}
		olga.Get(t, "/search?q="+text).Is(t, 200).Has(t, "Nothing is called").Lacks(t, on)
	}
	settle(t, s, "otto", "more-notes", "", ladder.Standby)
	otto.Get(t, "/search?q=notes").Is(t, 200).Has(t, on, `data-phase="RUNNING"`, "more-notes")
}

// A lost home is brought back from one of its archives, which are listed.
func TestWorkspaceRecovery(t *testing.T) {
	s := webtest.Start(t)
	otto := s.Login(t, "otto", auth.Operator)
	id := settle(t, s, "otto", "notes", "", ladder.Standby)
	on := "/workspaces/" + id.String()
	otto.Get(t, on).Is(t, 200).Has(t, "No archive yet")
	for i, key := range []string{"workspaces/old/home.tar.zst", "workspaces/new/home.tar.zst"} {
		if _, err := s.DB.Pool.Exec(t.Context(), `insert into weir.workspace_archives (key, workspace, verified_at, meta) values ($1, $2, now() - make_interval(days => $3), '{"size": 2048, "entries": 17}')`, key, id, 2-i); err != nil {
			t.Fatal(err)
		}
	}
	s.Exec(t, `update weir.workspaces set phase = 'ERROR', error_reason = 'DataLost', error_message = 'its volume is gone', conditions = jsonb_set(conditions, '{storage.volume_ready,status}', 'false'), archive_key = 'workspaces/new/home.tar.zst', had_home = true`)
	otto.Get(t, on).Is(t, 200).Has(t, `data-key="workspaces/old/home.tar.zst"`, `data-key="workspaces/new/home.tar.zst" data-current`, "17", "its volume is gone", on+"/recover")
	otto.Get(t, on+"/recover").Is(t, 200).Has(t, `value="workspaces/old/home.tar.zst"`, `value="fresh"`)
	otto.Post(t, on+"/recover", form("from", "workspaces/else/home.tar.zst")).Is(t, http.StatusUnprocessableEntity)
	otto.Post(t, on+"/recover", form("from", "workspaces/old/home.tar.zst", "reason", "the newer one is broken")).Is(t, http.StatusSeeOther)
	w, err := s.Workspaces.Workspace(t.Context(), id)
	if err != nil || w.Error != "" || w.ArchiveKey != "workspaces/old/home.tar.zst" {
		t.Errorf("recovered: %+v, %v", w, err)
	}
}

// What is refused is said in the language of the page, by the database and by us.
func TestWorkspaceRefusalsInKorean(t *testing.T) {
	s := webtest.Start(t)
	otto := s.Login(t, "otto", auth.Operator)
	otto.Post(t, "/language", form("language", "ko", "back", "/workspaces")).Is(t, http.StatusSeeOther)
	otto.Post(t, "/new-workspace", form("name", "Bad Name", "provider", "docker")).Is(t, http.StatusUnprocessableEntity).Has(t, "영문 소문자, 숫자, 하이픈 1자에서 40자까지")
	otto.Post(t, "/new-workspace", form("name", "notes", "provider", "docker", "standby_ttl", "1s")).Is(t, http.StatusUnprocessableEntity).Has(t, "너무 짧습니다")
	otto.Post(t, "/new-workspace", form("name", "notes", "provider", "docker")).Is(t, http.StatusSeeOther)
	otto.Post(t, "/new-workspace", form("name", "notes", "provider", "docker")).Is(t, http.StatusConflict).Has(t, "워크스페이스 &#39;notes&#39;이(가) 이미 있습니다")
}
