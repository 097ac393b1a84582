package workspacepages

import (
	"context"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// workspaces is where they are.
func (w *pages) workspaces() (*workspace.Host, error) {
	if w.Workspaces == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server keeps no workspaces")
	}
	return w.Workspaces, nil
}

// phaseLooks are those of phases.
var phaseLooks = map[string]site.Look{
	string(ladder.Pending):  {Icon: "pending", Class: "is-pending"},
	string(ladder.Archived): {Icon: "database", Class: "is-canceled"},
	string(ladder.Standby):  {Icon: "held", Class: "is-held"},
	string(ladder.Running):  {Icon: "done", Class: "is-done"},
	string(ladder.Error):    {Icon: "failed", Class: "is-failed"},
	string(ladder.Deleting): {Icon: "stop", Class: "is-held"},
	string(ladder.Deleted):  {Icon: "skipped", Class: "is-skipped"},
}

// workspaceEvents are those that may change a page of workspaces.
func workspaceEvents() *timeline.Filter {
	return &timeline.Filter{Kinds: []string{"workspace", "workspaces"}}
}

// aWorkspaceCard is a workspace as its card shows it.
type aWorkspaceCard struct {
	workspace.View
	// may: its reader may command it; live: and start and open it.
	may, live bool
	// foreign: it is somebody else's.
	foreign bool
}

func cardOf(r *site.Request, v workspace.View) aWorkspaceCard {
	may := auth.Can(r.Subject, auth.Command, auth.Object{Kind: "workspace", Owner: v.OwnerID.String()})
	return aWorkspaceCard{View: v, foreign: v.OwnerID.String() != r.Subject.UserID, may: may, live: may && workspace.MayLive(r.Subject, v.Provider) == nil}
}

// busy: something is under way, and nothing else can be wanted.
func (c aWorkspaceCard) busy() bool { return c.Operation != ladder.None }

func (c aWorkspaceCard) canStart() bool {
	return c.live && !c.busy() && c.Desired != ladder.Running && (c.Phase == ladder.Standby || c.Phase == ladder.Archived || c.Phase == ladder.Pending)
}

func (c aWorkspaceCard) canStop() bool {
	return c.may && !c.busy() && c.Phase == ladder.Running && c.Desired == ladder.Running
}

func (c aWorkspaceCard) canArchive() bool {
	return c.may && !c.busy() && c.Desired != ladder.Archived && (c.Phase == ladder.Running || c.Phase == ladder.Standby)
}

// canOpen: it runs, or it will when it is opened.
func (c aWorkspaceCard) canOpen() bool {
	return c.live && (c.Phase == ladder.Running || c.Phase == ladder.Standby || c.Phase == ladder.Archived)
}

func (c aWorkspaceCard) canDelete() bool { return c.may && !c.busy() && c.DeletedAt == nil }

func (c aWorkspaceCard) canRecover() bool { return c.may && c.Phase == ladder.Error }

// workspacesView is the list as cards.
type workspacesView struct {
	cards         []aWorkspaceCard
	phase, search string
	chips         []site.Chip
	views         []ui.Tab
	everybody     bool
	policy        workspace.Policy
	create        bool
	newest, older string
}

func (v workspacesView) filtered() bool { return v.phase != "" || v.search != "" }

func (w *pages) workspaceList(r *site.Request) (site.View, error) {
	ctx := r.Context()
	head := ui.Head{Title: ui.Say(ctx, "workspaces.title")}
	host, err := w.workspaces()
	if err != nil || len(host.Offered) == 0 {
		return site.View{Head: head, Body: ui.Empty("workspace", ui.Say(ctx, "workspaces.off"), ui.Say(ctx, "workspaces.off.text")), Still: true}, nil
	}
	create := len(host.Usable(r.Subject)) > 0 && auth.Can(r.Subject, auth.Submit, r.Subject.Own("workspace"))
	v := workspacesView{search: r.Query("search"), everybody: r.Query("whose") == "all", create: create}
	words := make([]string, 0, len(ladder.Phases))
	for _, p := range ladder.Phases {
		if p != ladder.Deleted {
			words = append(words, string(p))
		}
	}
	if v.phase, err = r.OneOf("phase", words); err != nil {
		return site.View{}, err
	}
	v.views, v.chips = workspaceViews(r, r.Query("whose")), site.Chips(r, "phase", "phase.", words, v.phase)
	if v.policy, err = host.Policy(ctx); err != nil {
		return site.View{}, err
	}
	page := site.NamesPage(r)
	in := &workspace.Listing{Paged: op.Paged{Limit: page.Limit, After: page.After}, All: v.everybody, Phase: v.phase, Search: v.search}
	found, err := workspace.List.Call(ctx, w.Operations, in)
	if err != nil {
		return site.View{}, err
	}
	var rows []workspace.View
	rows, v.newest, v.older = site.NamesPaged(r, found.Items, func(x workspace.View) string { return x.ID.String() })
	for _, x := range rows {
		v.cards = append(v.cards, cardOf(r, x))
	}
	head.Actions = workspacesActs(v.create)
	return site.View{Head: head, Body: workspacesPage(v), Follow: workspaceEvents()}, nil
}

// nextSaid is what happens next, in words; the time stands beside it.
func nextSaid(ctx context.Context, n *workspace.Next) string { return ui.Code(ctx, "next.", n.What) }

// useSaid is what was done last in a workspace.
func useSaid(ctx context.Context, source string) string {
	if source == "" {
		return ""
	}
	return ui.Code(ctx, "use.", source)
}

// ttlSaid is a time of a workspace.
func ttlSaid[D ~int64](ctx context.Context, d D) string { return ui.Duration(ctx, time.Duration(d)) }
