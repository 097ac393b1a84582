package workspace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

func namesOf(list []workspace.Workspace) (names []string) {
	for _, w := range list {
		names = append(names, w.Name)
	}
	return names
}

func TestListAndCount(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for n := range 7 {
		d.create(fmt.Sprint("w", n), ladder.Standby)
		d.wait(time.Second)
	}
	failed, gone := d.standing("failed"), d.standing("gone")
	d.end(failed, d.begin(failed, ladder.Stopping), ladder.Timeout, "it hangs")
	d.want(gone, ladder.Deleted)
	d.wait(time.Second)
	ann := d.owner
	d.owner = d.user("bob")
	d.create("bobs", ladder.Standby)
	list := func(f workspace.Filter, p view.Page) []workspace.Workspace {
		t.Helper()
		all, err := d.store.List(t.Context(), f, p)
		d.ok(err)
		return all
	}
	for name, c := range map[string]struct {
		filter workspace.Filter
		want   string
	}{
		"all":           {workspace.Filter{}, "bobs failed w6 w5 w4 w3 w2 w1 w0"},
		"of an owner":   {workspace.Filter{Owner: d.owner}, "bobs"},
		"by phase":      {workspace.Filter{Phase: ladder.Error}, "failed"},
		"failed":        {workspace.Filter{Failed: true}, "failed"},
		"by name":       {workspace.Filter{Search: "W3"}, "w3"},
		"by owner":      {workspace.Filter{Search: "bob"}, "bobs"},
		"no pattern":    {workspace.Filter{Search: "w%"}, ""},
		"by provider":   {workspace.Filter{Provider: "docker"}, ""},
		"deleted, too":  {workspace.Filter{Owner: ann, Deleted: true, Search: "o"}, "gone"},
		"what is going": {workspace.Filter{Phase: ladder.Standby, Deleted: true}, "gone"},
	} {
		got := namesOf(list(c.filter, view.Page{}))
		want := strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := namesOf(list(workspace.Filter{Search: "w"}, view.Page{})); !slices.Equal(got, strings.Fields("w6 w5 w4 w3 w2 w1 w0")) {
		t.Errorf("not newest first: %v", got)
	}
	var paged []string
	for p := (view.Page{Limit: 3}); ; {
		page := list(workspace.Filter{}, p)
		if paged = append(paged, namesOf(page)...); len(page) < 3 {
			break
		}
		p.After = page[2].ID.String()
	}
	if !slices.Equal(paged, namesOf(list(workspace.Filter{}, view.Page{}))) {
		t.Errorf("in pages: %v", paged)
	}
	_, err := d.store.List(t.Context(), workspace.Filter{}, view.Page{After: "x"})
	d.problem(problem.Invalid, err)
	counts, err := d.store.Count(t.Context(), workspace.Filter{Owner: ann})
	if err != nil || counts[ladder.Pending] != 7 || counts[ladder.Error] != 1 || len(counts) != 2 {
		t.Errorf("%v, %v", counts, err)
	}
	f, err := d.store.Figures(t.Context())
	if err != nil || f.ByPhase["PENDING"] != 8 || f.ByOperation["NONE"] != 9 || f.ByReason["Timeout"] != 1 || len(f.ByReason) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	mine := d.create("same", ladder.Standby)
	only := d.create("only", ladder.Standby)
	gone := d.create("gone", ladder.Standby)
	d.want(gone, ladder.Deleted)
	d.owner = d.user("bob")
	his := d.create("same", ladder.Standby)
	for text, want := range map[string]weir.ID{mine.String(): mine, "only": only, "ann/same": mine, "bob/same": his, gone.String(): gone} {
		if w, err := d.store.Find(t.Context(), "", text); err != nil || w.ID != want {
			t.Errorf("%s: %s, %v", text, w.Name, err)
		}
	}
	if w, err := d.store.Find(t.Context(), "bob", "same"); err != nil || w.ID != his || w.Owner != "bob" || w.OwnerID != d.owner {
		t.Errorf("%+v, %v", w, err)
	}
	_, err := d.store.Find(t.Context(), "", "same")
	if p := d.problem(problem.Conflict, err); !strings.Contains(p.Next, "ann/same") || !strings.Contains(p.Next, "bob/same") {
		t.Errorf("%+v", p)
	}
	for _, none := range []string{"gone", "none", "bob/only", "/", ""} {
		_, err := d.store.Find(t.Context(), "", none)
		d.problem(problem.NotFound, err)
	}
}

func TestCreateOnceAndRefuse(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	draft := workspace.Draft{Owner: d.owner, Name: "one", Provider: "docker", Image: "img:1", Description: "first", Desired: ladder.Standby, StandbyTTL: node.Span(time.Hour), Key: "k"}
	id, existed, err := d.store.Create(t.Context(), "ann", draft)
	if err != nil || existed {
		t.Fatal(existed, err)
	}
	w := d.get(id)
	if w.Image != "img:1" || w.Description != "first" || time.Duration(w.StandbyTTL) != time.Hour || time.Duration(w.ArchiveTTL) != 30*time.Minute || w.Desired != ladder.Standby || w.LastAccess.IsZero() || w.DesiredBy != "ann" {
		t.Errorf("%+v", w)
	}
	if again, existed, err := d.store.Create(t.Context(), "ann", draft); err != nil || !existed || again != id {
		t.Errorf("%s, %v, %v", again, existed, err)
	}
	// It stands for what was asked for, and nothing else.
	changed := draft
	changed.Image = "img:2"
	if _, _, err := d.store.Create(t.Context(), "ann", changed); problem.Explain(err).Kind != problem.Invalid {
		t.Errorf("another body: %v", err)
	}
	// A key is its owner's, and is not that of a job.
	d.exec(`select weir.submit_job('[{"service": "s"}]', 'j', idempotency_key => 'k')`)
	other := draft
	other.Owner = d.user("bob")
	if theirs, existed, err := d.store.Create(t.Context(), "bob", other); err != nil || existed || theirs == id {
		t.Errorf("%s, %v, %v", theirs, existed, err)
	}
	for name, c := range map[string]struct {
		kind   problem.Kind
		change func(*workspace.Draft)
	}{
		"taken":         {problem.Conflict, func(d *workspace.Draft) { d.Key = "" }},
		"no name":       {problem.Invalid, func(d *workspace.Draft) { d.Name = "" }},
		"bad name":      {problem.Invalid, func(d *workspace.Draft) { d.Name = "../x" }},
		"long name":     {problem.Invalid, func(d *workspace.Draft) { d.Name = strings.Repeat("a", 41) }},
		"no provider":   {problem.Invalid, func(d *workspace.Draft) { d.Provider = "" }},
		"no such owner": {problem.Invalid, func(d *workspace.Draft) { d.Owner = id }},
		"deleted":       {problem.Invalid, func(d *workspace.Draft) { d.Desired = ladder.Deleted }},
		"short ttl":     {problem.Invalid, func(d *workspace.Draft) { d.ArchiveTTL = node.Span(time.Second) }},
		"long text":     {problem.Invalid, func(d *workspace.Draft) { d.Description = strings.Repeat("a", 1001) }},
		"long key":      {problem.Invalid, func(d *workspace.Draft) { d.Key = strings.Repeat("k", 201) }},
	} {
		bad := draft
		if bad.Key = "other"; c.kind == problem.Invalid {
			bad.Name = "two"
		}
		c.change(&bad)
		if _, _, err := d.store.Create(t.Context(), "ann", bad); err == nil || problem.Explain(err).Kind != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := d.count(`select count(*) from weir.workspaces`); n != 2 {
		t.Errorf("%d workspaces", n)
	}
	// The name is free again when it is deleted.
	d.want(id, ladder.Deleted)
	draft.Key = "new"
	if _, _, err := d.store.Create(t.Context(), "ann", draft); err != nil {
		t.Error(err)
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.create("one", ladder.Standby)
	d.create("two", ladder.Standby)
	change := func(c workspace.Change) bool {
		t.Helper()
		changed, err := d.store.Patch(t.Context(), id, "ann", c)
		d.ok(err)
		return changed
	}
	if !change(workspace.Change{Name: new("uno"), Description: new("mine"), StandbyTTL: new(op.Wait(90 * time.Second))}) || change(workspace.Change{Name: new("uno")}) || change(workspace.Change{}) {
		t.Error("what is the same is a change, or the other way round")
	}
	if w := d.get(id); w.Name != "uno" || w.Description != "mine" || time.Duration(w.StandbyTTL) != 90*time.Second {
		t.Errorf("%+v", w)
	}
	change(workspace.Change{Description: new(""), StandbyTTL: new(op.Wait(0))})
	if w := d.get(id); w.Description != "" || time.Duration(w.StandbyTTL) != 10*time.Minute || w.Name != "uno" {
		t.Errorf("%+v", w)
	}
	for name, c := range map[string]struct {
		kind   problem.Kind
		change workspace.Change
	}{
		"taken":     {problem.Conflict, workspace.Change{Name: new("two")}},
		"bad name":  {problem.Invalid, workspace.Change{Name: new("A B")}},
		"no name":   {problem.Invalid, workspace.Change{Name: new("")}},
		"short":     {problem.Invalid, workspace.Change{StandbyTTL: new(op.Wait(time.Second))}},
		"long text": {problem.Invalid, workspace.Change{Description: new(strings.Repeat("a", 1001))}},
	} {
		if _, err := d.store.Patch(t.Context(), id, "ann", c.change); err == nil || problem.Explain(err).Kind != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.refuses(problem.Invalid, `select weir.workspace_patch($1, '{"phase": "RUNNING"}')`, id)
	d.want(id, ladder.Deleted)
	_, err := d.store.Patch(t.Context(), id, "ann", workspace.Change{Name: new("x")})
	d.problem(problem.NotFound, err)
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, err := d.store.Policy(t.Context())
	d.ok(err)
	want := workspace.Policy{PerUser: 2, InAll: 100, StandbyTTL: node.Span(10 * time.Minute), ArchiveTTL: node.Span(30 * time.Minute), BusyMost: node.Span(12 * time.Hour), UnknownOf: []string{}}
	if fmt.Sprint(p) != fmt.Sprint(want) {
		t.Errorf("%+v", p)
	}
	p, err = d.store.SetPolicy(t.Context(), "ann", workspace.PolicyChange{PerUser: new(5), MaxLife: new(op.Wait(time.Hour)), StandbyTTL: new(op.Wait(15 * time.Second)), BusyMost: new(op.Wait(0))})
	d.ok(err)
	if p.PerUser != 5 || p.InAll != 100 || time.Duration(p.MaxLife) != time.Hour || time.Duration(p.StandbyTTL) != 15*time.Second || p.BusyMost != 0 || time.Duration(p.ArchiveTTL) != 30*time.Minute {
		t.Errorf("%+v", p)
	}
	if p, err = d.store.SetPolicy(t.Context(), "ann", workspace.PolicyChange{MaxLife: new(op.Wait(0))}); err != nil || p.MaxLife != 0 || p.PerUser != 5 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []workspace.PolicyChange{{PerUser: new(-1)}, {InAll: new(1_000_000)}, {StandbyTTL: new(op.Wait(time.Second))}, {MaxLife: new(op.Wait(time.Second))}, {ArchiveTTL: new(op.Wait(0))}} {
		_, err := d.store.SetPolicy(t.Context(), "ann", bad)
		d.problem(problem.Invalid, err)
	}
	for _, bad := range []string{`[]`, `{"starts": 1}`, `{"per_user": "two"}`, `{"install": null}`} {
		d.refuses(problem.Invalid, `select weir.set_workspace_policy($1)`, bad)
	}
	if n := d.count(`select count(*) from weir.events where kind = 'workspaces' and subject = 'policy' and source = 'ann'`); n != 2 {
		t.Errorf("%d events", n)
	}
}

func TestLogInPages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.running("one")
	all := d.entries(id)
	var paged []workspace.Entry
	for p := (view.Page{Limit: 2}); ; {
		page, err := d.store.Log(t.Context(), id, p)
		d.ok(err)
		if paged = append(paged, page...); len(page) < 2 {
			break
		}
		p.After = fmt.Sprint(page[1].Seq)
	}
	if len(all) != 7 || len(paged) != 7 || paged[6].Type != "created" || paged[6].By != "ann" || paged[0].Operation != ladder.Starting || paged[0].Type != "completed" {
		t.Errorf("%+v", paged)
	}
	_, err := d.store.Log(t.Context(), id, view.Page{After: "x"})
	d.problem(problem.Invalid, err)
}
