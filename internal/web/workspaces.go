package web

import (
	"context"
	"io"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Workspaces is what pages read and change of workspaces. *workspace.Store is one.
type Workspaces interface {
	Create(ctx context.Context, by string, d workspace.Draft) (id weir.ID, existed bool, err error)
	List(ctx context.Context, f workspace.Filter, page view.Page) ([]workspace.Workspace, error)
	Workspace(ctx context.Context, id weir.ID) (workspace.Workspace, error)
	Patch(ctx context.Context, id weir.ID, by string, c workspace.Change) (changed bool, err error)
	Want(ctx context.Context, id weir.ID, want ladder.Phase, by, reason string) (changed bool, err error)
	Recover(ctx context.Context, id weir.ID, by, reason string, fresh bool) (changed bool, err error)
	RecoverFrom(ctx context.Context, id weir.ID, by, reason, archive string) (changed bool, err error)
	Why(ctx context.Context, id weir.ID) (workspace.Why, error)
	Log(ctx context.Context, id weir.ID, page view.Page) ([]workspace.Entry, error)
	Archives(ctx context.Context, id weir.ID) ([]workspace.Archive, error)
	Policy(ctx context.Context) (workspace.Policy, error)
	SetPolicy(ctx context.Context, by string, c workspace.PolicyChange) (workspace.Policy, error)
}

// WorkspaceHost is where workspaces of this server run.
type WorkspaceHost interface {
	// Providers are how they may run, the usual one first.
	Providers() []string
	// Image refuses an image that a workspace may not have there; empty: the built-in one.
	Image(provider, image string) error
	// Open is an address that opens a workspace for who asks, once and soon.
	Open(ctx context.Context, by auth.Subject, id weir.ID, next string) (string, error)
	// Logs writes what its container printed last.
	Logs(ctx context.Context, w workspace.Workspace, lines int, to io.Writer) error
}

func (w *Web) workspaces() (Workspaces, error) {
	if w.config.Workspaces == nil || w.config.WorkspaceHost == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server keeps no workspaces")
	}
	return w.config.Workspaces, nil
}

func workspacePath(id weir.ID) string { return ui.Path("workspaces", id.String()) }

// phaseLooks are those of phases.
var phaseLooks = map[string]look{
	string(ladder.Pending):  {"pending", "is-pending"},
	string(ladder.Archived): {"database", "is-canceled"},
	string(ladder.Standby):  {"held", "is-held"},
	string(ladder.Running):  {"done", "is-done"},
	string(ladder.Error):    {"failed", "is-failed"},
	string(ladder.Deleting): {"stop", "is-held"},
	string(ladder.Deleted):  {"skipped", "is-skipped"},
}

// workspaceEvents are those that may change a page of workspaces.
func workspaceEvents() *timeline.Filter {
	return &timeline.Filter{Kinds: []string{"workspace", "workspaces"}}
}

// aWorkspaceCard is a workspace as its card shows it.
type aWorkspaceCard struct {
	workspace.Workspace
	next *workspace.Next
	// may: its reader may command it; live: and start and open it.
	may, live bool
	// foreign: it is somebody else's.
	foreign bool
}

func cardOf(r *Request, w workspace.Workspace, policy workspace.Policy) aWorkspaceCard {
	own := auth.Object{Kind: "workspace", Owner: w.OwnerID.String()}
	may := auth.Can(r.Subject, auth.Command, own)
	return aWorkspaceCard{
		Workspace: w, next: w.Next(r.Now, policy.Unseen(w.Provider)), foreign: w.OwnerID.String() != r.Subject.UserID,
		may: may, live: may && (w.Provider != workspace.OnThisMachine || r.Can(auth.Administer, "workspace")),
	}
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
	chips         []chip
	views         []ui.Tab
	everybody     bool
	policy        workspace.Policy
	create        bool
	newest, older string
}

func (v workspacesView) filtered() bool { return v.phase != "" || v.search != "" }

func (w *Web) workspaceList(r *Request) (View, error) {
	ctx := r.Context()
	head := ui.Head{Title: say(ctx, "workspaces.title"), Actions: languages(r.URL.RequestURI())}
	store, err := w.workspaces()
	if err != nil || len(w.config.WorkspaceHost.Providers()) == 0 {
		return View{Head: head, Body: ui.Empty("workspace", say(ctx, "workspaces.off"), say(ctx, "workspaces.off.text")), Still: true}, nil
	}
	v := workspacesView{search: r.Query("search"), create: mayCreate(r, w.config.WorkspaceHost.Providers())}
	words := make([]string, 0, len(ladder.Phases))
	for _, p := range ladder.Phases {
		if p != ladder.Deleted {
			words = append(words, string(p))
		}
	}
	if v.phase, err = r.OneOf("phase", words); err != nil {
		return View{}, err
	}
	f := workspace.Filter{Phase: ladder.Phase(v.phase), Search: v.search}
	v.views = workspaceViews(r, "")
	if v.everybody = r.Query("whose") == "all"; v.everybody {
		if err := r.allow(auth.Read, "workspace", false); err != nil {
			return View{}, err
		}
		v.views = workspaceViews(r, "all")
	} else if f.Owner, err = weir.ParseID(r.Subject.UserID); err != nil {
		return View{}, problem.New(problem.NotFound, "log in as a user", "who asks is no user")
	}
	v.chips = chips(r, "phase", "phase.", words, v.phase)
	if v.policy, err = store.Policy(ctx); err != nil {
		return View{}, err
	}
	rows, err := store.List(ctx, f, namesPage(r))
	if err != nil {
		return View{}, err
	}
	rows, v.newest, v.older = namesPaged(r, rows, func(x workspace.Workspace) string { return x.ID.String() })
	for _, x := range rows {
		v.cards = append(v.cards, cardOf(r, x, v.policy))
	}
	head.Actions = workspacesActs(v.create, r.URL.RequestURI())
	return View{Head: head, Body: workspacesPage(v), Follow: workspaceEvents()}, nil
}

// mayCreate: there is a way to run that the reader may use.
func mayCreate(r *Request, offered []string) bool {
	own := auth.Object{Kind: "workspace", Owner: r.Subject.UserID}
	return len(usable(r, offered)) > 0 && auth.Can(r.Subject, auth.Submit, own)
}

// usable are the ways to run that the reader may use: what runs as the server itself takes
// an admin.
func usable(r *Request, offered []string) (names []string) {
	for _, name := range offered {
		if name != workspace.OnThisMachine || r.Can(auth.Administer, "workspace") {
			names = append(names, name)
		}
	}
	return names
}

// nextSaid is what happens next, in words; the time stands beside it.
func nextSaid(ctx context.Context, n *workspace.Next) string { return wordOf(ctx, "next.", n.What) }

// useSaid is what was done last in a workspace.
func useSaid(ctx context.Context, source string) string {
	if source == "" {
		return ""
	}
	return wordOf(ctx, "use.", source)
}

// ttlSaid is a time of a workspace.
func ttlSaid[D ~int64](d D) string { return ui.Duration(time.Duration(d)) }
