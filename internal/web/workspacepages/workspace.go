package workspacepages

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// workspaceTabs are the views of a workspace, by the end of their addresses.
var workspaceTabs = []struct{ name, end string }{{"overview", ""}, {"log", "/log"}, {"output", "/output"}}

// workspaceView is what all views of a workspace show.
type workspaceView struct {
	aWorkspaceCard
	tab string
}

func (v workspaceView) tabs(ctx context.Context) []ui.Tab {
	out := make([]ui.Tab, len(workspaceTabs))
	for i, t := range workspaceTabs {
		out[i] = ui.Tab{Label: ui.Say(ctx, "workspace.tab."+t.name), Href: site.WorkspacePath(v.ID) + t.end, Current: t.end == v.tab}
	}
	return out
}

// workspaceOf reads which one is meant, if the reader may do that to it.
func (w *pages) workspaceOf(r *site.Request, verb auth.Verb) (*workspace.Host, workspace.Workspace, error) {
	host, err := w.workspaces()
	if err != nil {
		return nil, workspace.Workspace{}, err
	}
	x, err := host.Reach(r.Context(), r.Subject, verb, r.PathValue("workspace"))
	return host, x, err
}

// aWorkspace serves one view of a workspace.
func (w *pages) aWorkspace(tab string, body func(*site.Request, *workspace.Host, workspaceView) (templ.Component, error)) func(*site.Request) (site.View, error) {
	return func(r *site.Request) (site.View, error) {
		host, err := w.workspaces()
		if err != nil {
			return site.View{}, err
		}
		x, err := workspace.Show.Call(r.Context(), w.Operations, &workspace.Named{Workspace: r.PathValue("workspace")})
		if err != nil {
			return site.View{}, err
		}
		policy, err := host.Policy(r.Context())
		if err != nil {
			return site.View{}, err
		}
		v := workspaceView{aWorkspaceCard: cardOf(r, x), tab: tab}
		inner, err := body(r, host, v)
		if err != nil {
			return site.View{}, err
		}
		subject := x.ID.String()
		follow := &timeline.Filter{Match: func(e *timeline.Event) bool {
			return e.Kind == "workspace" && e.Subject == subject || e.Kind == "workspaces"
		}}
		return site.View{Head: ui.Head{Title: ui.Line(x.Name)}, Plain: true, Body: workspacePage(v, policy, inner), Follow: follow}, nil
	}
}

// rung is a step of the ladder as the page shows it.
type rung struct {
	phase        ladder.Phase
	here, wanted bool
	// towards: the operation that is under way leads to it.
	towards bool
}

// rungs are the ladder of a workspace, the highest first.
func rungs(w workspace.Workspace) []rung {
	var out []rung
	for _, p := range []ladder.Phase{ladder.Running, ladder.Standby, ladder.Archived, ladder.Pending} {
		out = append(out, rung{phase: p, here: w.Phase == p, wanted: w.Desired == p, towards: endsIn[w.Operation] == p})
	}
	return out
}

// endsIn is where an operation ends.
var endsIn = map[ladder.Operation]ladder.Phase{
	ladder.Provisioning: ladder.Standby, ladder.Restoring: ladder.Standby, ladder.Starting: ladder.Running,
	ladder.Stopping: ladder.Standby, ladder.Archiving: ladder.Archived, ladder.CreateEmptyArchive: ladder.Archived,
}

// condition is one thing that is so or is not, as the page shows it.
type condition struct {
	name, status, reason, message string
	since                         time.Time
}

// conditionsOf reads what was last seen.
func conditionsOf(raw json.RawMessage) []condition {
	var seen map[string]struct {
		Status  any       `json:"status"`
		Reason  string    `json:"reason"`
		Message string    `json:"message"`
		Since   time.Time `json:"last_transition_time"`
	}
	if json.Unmarshal(raw, &seen) != nil {
		return nil // it was not looked at yet
	}
	var out []condition
	for name, c := range seen {
		status := "unknown"
		switch s := c.Status.(type) {
		case bool:
			status = strconv.FormatBool(s)
		case string:
			status = strings.ToLower(s)
		}
		out = append(out, condition{name: name, status: status, reason: c.Reason, message: c.Message, since: c.Since})
	}
	slices.SortFunc(out, func(a, b condition) int { return strings.Compare(a.name, b.name) })
	return out
}

// conditionLooks are those of what is so and what is not.
var conditionLooks = map[string]site.Look{"true": {Icon: "done", Class: "is-done"}, "false": {Icon: "skipped", Class: "is-skipped"}, "unknown": {Icon: "help", Class: "is-unknown"}}

// workspaceOverview is what a workspace is and why.
type workspaceOverview struct {
	why      workspace.Why
	archives []workspace.Archive
	log      []workspace.Entry
}

// workspaceLines is how many lines of the log the overview shows.
const workspaceLines = 8

func (w *pages) workspaceOverview(r *site.Request, host *workspace.Host, v workspaceView) (_ templ.Component, err error) {
	ctx := r.Context()
	var o workspaceOverview
	if o.why, err = host.Why(ctx, v.ID); err != nil {
		return nil, err
	}
	if o.archives, err = host.Archives(ctx, v.ID); err != nil {
		return nil, err
	}
	if o.log, err = host.Log(ctx, v.ID, view.Page{Limit: workspaceLines}); err != nil {
		return nil, err
	}
	return workspaceOverviewTab(v, o), nil
}

func (w *pages) workspaceLog(r *site.Request, host *workspace.Host, v workspaceView) (templ.Component, error) {
	rows, err := host.Log(r.Context(), v.ID, site.NamesPage(r))
	if err != nil {
		return nil, err
	}
	rows, newest, older := site.NamesPaged(r, rows, func(e workspace.Entry) string { return strconv.FormatInt(e.Seq, 10) })
	return workspaceLogTab(rows, newest, older), nil
}

// outputLines is how many lines of its container a workspace's page shows.
const outputLines = 500

// workspaceOutput shows what the container printed. A provider that does not answer is no
// error of the page.
func (w *pages) workspaceOutput(r *site.Request, host *workspace.Host, v workspaceView) (templ.Component, error) {
	var text bytes.Buffer
	err := host.Logs(r.Context(), v.Workspace, outputLines, &text)
	if err != nil {
		p, hidden := problem.Public(err)
		if hidden {
			w.Log.WarnContext(r.Context(), "the output of a workspace cannot be read", "workspace", v.ID, "error", err)
		}
		return workspaceOutputTab("", ui.Spoken(r.Context(), p).What), nil
	}
	return workspaceOutputTab(text.String(), ""), nil
}
