package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Workspaces keeps workspaces. [*workspace.Store] does.
type Workspaces interface {
	Create(ctx context.Context, by string, d workspace.Draft) (id weir.ID, existed bool, err error)
	List(ctx context.Context, f workspace.Filter, page view.Page) ([]workspace.Workspace, error)
	Workspace(ctx context.Context, id weir.ID) (workspace.Workspace, error)
	Find(ctx context.Context, owner, ref string) (workspace.Workspace, error)
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
	// Open is an address that opens a workspace for who asks, once and soon; next is the
	// path there.
	Open(ctx context.Context, by auth.Subject, id weir.ID, next string) (string, error)
	// Logs writes what its container printed last.
	Logs(ctx context.Context, w workspace.Workspace, lines int, to io.Writer) error
	// Import takes over rows of an earlier installation, those of unknown owners for owner.
	Import(ctx context.Context, by string, owner weir.ID, provider string, rows []json.RawMessage) ([]workspace.Imported, error)
}

// WorkspaceBody is a workspace with what happens to it next.
type WorkspaceBody struct {
	workspace.Workspace
	Next *workspace.Next `json:"next,omitempty" doc:"What happens to it by itself, and when, if nobody does anything."`
}

// workspaceBodies are workspaces as they are now.
func workspaceBodies(ctx context.Context, store Workspaces, list []workspace.Workspace) ([]WorkspaceBody, error) {
	policy, err := store.Policy(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]WorkspaceBody, len(list))
	for i := range list {
		out[i] = WorkspaceBody{list[i], list[i].Next(time.Now(), policy.Unseen(list[i].Provider))}
	}
	return out, nil
}

// bodyNow is one of them, read again.
func bodyNow(ctx context.Context, store Workspaces, id weir.ID) (WorkspaceBody, error) {
	w, err := store.Workspace(ctx, id)
	if err != nil {
		return WorkspaceBody{}, err
	}
	all, err := workspaceBodies(ctx, store, []workspace.Workspace{w})
	if err != nil {
		return WorkspaceBody{}, err
	}
	return all[0], nil
}

// workspaces are those of this server.
func (a *API) workspaces() (Workspaces, error) {
	if a.config.Workspaces == nil || a.config.WorkspaceHost == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server keeps no workspaces")
	}
	return a.config.Workspaces, nil
}

// CreateWorkspaceInput makes a workspace.
type CreateWorkspaceInput struct {
	op.Keyed
	Body struct {
		Name           string `json:"name" maxLength:"40" doc:"Small letters, digits and dashes; one's own, once."`
		Description    string `json:"description,omitempty" maxLength:"1000"`
		Image          string `json:"image,omitempty" maxLength:"500" doc:"On docker: what runs. Left out: the server's usual one."`
		Provider       string `json:"provider,omitempty" maxLength:"40" doc:"process or docker. Left out: the server's usual one, or the first that is open to who asks. process takes an admin: it runs as the server itself."`
		Desired        string `json:"desired,omitempty" enum:"ARCHIVED,STANDBY,RUNNING" doc:"Where it goes first. Default: RUNNING."`
		StandbyTTL     Wait   `json:"standby_ttl,omitzero" doc:"After how long without use it is stopped. Left out: as the policy says."`
		ArchiveTTL     Wait   `json:"archive_ttl,omitzero" doc:"After how long in standby it is archived. Left out: as the policy says."`
		Owner          string `json:"owner,omitempty" maxLength:"200" doc:"For an admin: the user whose it is. Left out: who asks."`
		IdempotencyKey string `json:"idempotency_key,omitempty" maxLength:"200" doc:"The same key gives the same workspace."`
	}
}

func (a *API) createWorkspace(ctx context.Context, in *CreateWorkspaceInput) (*Made[WorkspaceBody], error) {
	store, err := a.workspaces()
	if err != nil {
		return nil, err
	}
	b := &in.Body
	d := workspace.Draft{
		Name: b.Name, Description: b.Description, Image: b.Image, Provider: b.Provider, Desired: ladder.Phase(b.Desired), StandbyTTL: node.Span(b.StandbyTTL), ArchiveTTL: node.Span(b.ArchiveTTL),
	}
	if d.Key, err = in.Said(b.IdempotencyKey); err != nil { // a key of the owner
		return nil, err
	}
	if d.Owner, err = a.ownerOf(ctx, b.Owner, auth.Submit); err != nil {
		return nil, err
	}
	if err := cmp.Or(ttlOf("standby_ttl", b.StandbyTTL), ttlOf("archive_ttl", b.ArchiveTTL)); err != nil {
		return nil, err
	}
	if d.Provider, err = a.providerOf(ctx, d.Provider); err != nil {
		return nil, err
	}
	if err := workspace.MayLive(auth.From(ctx), d.Provider); err != nil {
		return nil, err
	}
	if err := a.config.WorkspaceHost.Image(d.Provider, d.Image); err != nil {
		return nil, err
	}
	id, existed, err := store.Create(ctx, auth.From(ctx).By(), d)
	if err != nil {
		return nil, err
	}
	w, err := bodyNow(ctx, store, id)
	if err != nil {
		return nil, err
	}
	out := &Made[WorkspaceBody]{Status: http.StatusCreated, Location: location("workspaces", id.String()), Body: w}
	if existed {
		out.Status = http.StatusOK
	}
	return out, nil
}

// ownerOf is whose a workspace is: who asks, or for an admin somebody else.
func (a *API) ownerOf(ctx context.Context, name string, verb auth.Verb) (weir.ID, error) {
	s := auth.From(ctx)
	text := s.UserID
	if name != "" && name != s.Name {
		if err := auth.Allow(s, verb, auth.Object{Kind: "workspace"}); err != nil {
			return weir.ID{}, err
		}
		u, err := a.config.Auth.User(ctx, name)
		if err != nil {
			return weir.ID{}, err
		}
		text = u.ID
	}
	id, err := weir.ParseID(text)
	if err != nil {
		return id, problem.Refuse("owner", "name a user", "who asks is no user")
	}
	return id, nil
}

// providerOf is how a workspace runs; empty: the first way that is open to who asks, and
// where none is the usual one, which is refused with the reason.
func (a *API) providerOf(ctx context.Context, name string) (string, error) {
	offered := a.config.WorkspaceHost.Providers()
	if name == "" {
		for _, one := range offered {
			if workspace.MayLive(auth.From(ctx), one) == nil {
				return one, nil
			}
		}
	}
	return workspace.ProviderOf(name, offered)
}

// ttlLeast is the shortest time after which a workspace is stopped or archived.
const ttlLeast = Wait(10 * time.Second)

// ttlOf refuses a time that is too short; zero is that of the policy.
func ttlOf(field string, d Wait) error {
	if d == 0 || d >= ttlLeast {
		return nil
	}
	return problem.Refuse(field, "give 10s or more, or 0s for that of the policy", "%s is too short", time.Duration(d))
}

// ttlGiven is ttlOf for a time that may be left out.
func ttlGiven(field string, d *Wait) error {
	if d == nil {
		return nil
	}
	return ttlOf(field, *d)
}

// ListWorkspacesInput narrows the list.
type ListWorkspacesInput struct {
	op.Paged
	All      bool   `query:"all" doc:"For an admin: everybody's. Else one's own."`
	Owner    string `query:"owner" maxLength:"200" doc:"For an admin: those of this user."`
	Phase    string `query:"phase" enum:"PENDING,ARCHIVED,STANDBY,RUNNING,ERROR,DELETING,DELETED" doc:"Only workspaces in this phase."`
	Provider string `query:"provider" enum:"process,docker" doc:"Only workspaces that run so."`
	Search   string `query:"search" maxLength:"200" doc:"Only workspaces with this in their name."`
	Deleted  bool   `query:"deleted" doc:"Deleted ones, too."`
}

func (a *API) listWorkspaces(ctx context.Context, in *ListWorkspacesInput) (*Listed[WorkspaceBody], error) {
	store, err := a.workspaces()
	if err != nil {
		return nil, err
	}
	f := workspace.Filter{Phase: ladder.Phase(in.Phase), Provider: in.Provider, Search: in.Search, Deleted: in.Deleted}
	if in.All && in.Owner == "" {
		err = auth.Allow(auth.From(ctx), auth.Read, auth.Object{Kind: "workspace"})
	} else {
		f.Owner, err = a.ownerOf(ctx, in.Owner, auth.Read)
	}
	if err != nil {
		return nil, err
	}
	list, err := store.List(ctx, f, in.Page())
	if err != nil {
		return nil, err
	}
	shown, err := workspaceBodies(ctx, store, list)
	if err != nil {
		return nil, err
	}
	return listed(ctx, shown, in.Limit, func(w WorkspaceBody) string { return w.ID.String() }), nil
}

// WorkspaceInput names a workspace.
type WorkspaceInput struct {
	Workspace string `path:"workspace" maxLength:"100" doc:"The id, the name of one's own, or owner/name."`
}

// workspaceOf reads which one is meant and whether who asks may do that to it. Somebody
// else's is not there for those who may not reach it.
func (a *API) workspaceOf(ctx context.Context, in WorkspaceInput, verb auth.Verb) (Workspaces, workspace.Workspace, error) {
	store, err := a.workspaces()
	if err != nil {
		return nil, workspace.Workspace{}, err
	}
	s := auth.From(ctx)
	w, err := store.Find(ctx, s.Name, in.Workspace)
	if err != nil {
		return nil, w, err
	}
	return store, w, workspace.May(s, verb, w, in.Workspace)
}

func (a *API) showWorkspace(ctx context.Context, in *WorkspaceInput) (*One[WorkspaceBody], error) {
	store, w, err := a.workspaceOf(ctx, *in, auth.Read)
	if err != nil {
		return nil, err
	}
	return one(bodyNow(ctx, store, w.ID))
}

// PatchWorkspaceInput changes what a workspace is called, what runs and how long it lasts.
type PatchWorkspaceInput struct {
	WorkspaceInput
	Body struct {
		Name        *string `json:"name,omitempty" maxLength:"40"`
		Description *string `json:"description,omitempty" maxLength:"1000"`
		Image       *string `json:"image,omitempty" maxLength:"500" doc:"On docker: what runs from the next start on. Empty: the built-in one."`
		StandbyTTL  *Wait   `json:"standby_ttl,omitempty" doc:"0s: as the policy says."`
		ArchiveTTL  *Wait   `json:"archive_ttl,omitempty" doc:"0s: as the policy says."`
	}
}

func (a *API) patchWorkspace(ctx context.Context, in *PatchWorkspaceInput) (*One[WorkspaceBody], error) {
	store, w, err := a.workspaceOf(ctx, in.WorkspaceInput, auth.Command)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	if err := cmp.Or(ttlGiven("standby_ttl", b.StandbyTTL), ttlGiven("archive_ttl", b.ArchiveTTL)); err != nil {
		return nil, err
	}
	c := workspace.Change{Name: b.Name, Description: b.Description, Image: b.Image, StandbyTTL: (*node.Span)(b.StandbyTTL), ArchiveTTL: (*node.Span)(b.ArchiveTTL)}
	if c.Image != nil {
		if err := a.config.WorkspaceHost.Image(w.Provider, *c.Image); err != nil {
			return nil, err
		}
	}
	if _, err := store.Patch(ctx, w.ID, auth.From(ctx).By(), c); err != nil {
		return nil, err
	}
	return one(bodyNow(ctx, store, w.ID))
}
