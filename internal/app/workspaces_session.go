package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Workspaces is what commands do with workspaces: on a database, or through a server's
// API, which knows by itself who asks.
type Workspaces interface {
	// Create makes one for a user; over the API an empty owner is who asks.
	Create(ctx context.Context, by, owner string, d workspace.Draft) (w workspace.Workspace, existed bool, err error)
	// List lists those of a user, or everybody's; over the API one's own without either.
	List(ctx context.Context, f workspace.Filter, owner string, all bool, page view.Page) ([]workspace.Workspace, error)
	Find(ctx context.Context, ref string) (workspace.Workspace, error)
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
	Import(ctx context.Context, by, owner, provider string, rows []json.RawMessage) ([]workspace.Imported, error)
	// Open makes an address that opens one, once; on a database for its owner.
	Open(ctx context.Context, w workspace.Workspace, by string) (string, error)
	Logs(ctx context.Context, w workspace.Workspace, lines int, to io.Writer) error
}

// databaseWorkspaces is Workspaces on the database itself: who holds that may do
// everything.
type databaseWorkspaces struct {
	*workspace.Store
	pool     *pgxpool.Pool
	accounts Accounts
	target   Target
}

// at does something with the host of the server whose database it is, as far as the
// settings here tell.
func (d databaseWorkspaces) at(ctx context.Context, do func(*workspaceHost) error) (err error) {
	c := d.target.config
	var bucket blob.Bucket
	if at := c.bucketURL(d.target.private()); at != "" {
		if bucket, err = blob.Open(ctx, at); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, blob.Close(bucket)) }()
	}
	h, err := newWorkspaceHost(ctx, c, d.target.private(), d.pool, bucket, workspaceAddress(c, d.target.Dashboard), nil)
	if err != nil {
		return err
	}
	return errors.Join(do(h), h.closeProviders())
}

// owner is the id of a user.
func (d databaseWorkspaces) owner(ctx context.Context, name string) (weir.ID, error) {
	u, err := d.accounts.User(ctx, name)
	if err != nil {
		return weir.ID{}, err
	}
	return weir.ParseID(u.ID)
}

func (d databaseWorkspaces) Create(ctx context.Context, by, owner string, draft workspace.Draft) (w workspace.Workspace, existed bool, err error) {
	if owner == "" {
		return w, false, problem.Refuse("owner", "make the first user: weir open", "there is nobody yet whose workspace it could be")
	}
	if draft.Owner, err = d.owner(ctx, owner); err != nil {
		return w, false, err
	}
	if draft.Provider, err = workspace.ProviderOf(draft.Provider, d.target.config.workspaceProviders(d.target.private())); err != nil {
		return w, false, err
	}
	if err := d.mayRun(ctx, draft.Provider, draft.Image); err != nil {
		return w, false, err
	}
	id, existed, err := d.Store.Create(ctx, by, draft)
	if err != nil {
		return w, false, err
	}
	w, err = d.Workspace(ctx, id)
	return w, existed, err
}

// mayRun refuses an image that a workspace may not have.
func (d databaseWorkspaces) mayRun(ctx context.Context, provider, image string) error {
	if image == "" {
		return nil
	}
	return d.at(ctx, func(h *workspaceHost) error { return h.Image(provider, image) })
}

func (d databaseWorkspaces) Patch(ctx context.Context, id weir.ID, by string, c workspace.Change) (bool, error) {
	if c.Image != nil {
		w, err := d.Workspace(ctx, id)
		if err != nil {
			return false, err
		}
		if err := d.mayRun(ctx, w.Provider, *c.Image); err != nil {
			return false, err
		}
	}
	return d.Store.Patch(ctx, id, by, c)
}

func (d databaseWorkspaces) List(ctx context.Context, f workspace.Filter, owner string, _ bool, page view.Page) (_ []workspace.Workspace, err error) {
	if owner != "" {
		if f.Owner, err = d.owner(ctx, owner); err != nil {
			return nil, err
		}
	}
	return d.Store.List(ctx, f, page)
}

func (d databaseWorkspaces) Find(ctx context.Context, ref string) (workspace.Workspace, error) {
	return d.Store.Find(ctx, "", ref)
}

func (d databaseWorkspaces) Import(ctx context.Context, by, owner, provider string, rows []json.RawMessage) (done []workspace.Imported, err error) {
	var id weir.ID
	if owner != "" {
		if id, err = d.owner(ctx, owner); err != nil {
			return nil, err
		}
	}
	err = d.at(ctx, func(h *workspaceHost) (err error) {
		done, err = h.Import(ctx, by, id, provider, rows)
		return err
	})
	return done, err
}

func (d databaseWorkspaces) Open(ctx context.Context, w workspace.Workspace, by string) (link string, err error) {
	if d.target.Dashboard == "" {
		return "", problem.New(problem.NotFound, "say where the server is with --server URL or --public-url URL", "it is not known where workspaces of %s are", d.target.Asked())
	}
	err = d.at(ctx, func(h *workspaceHost) (err error) {
		link, err = h.Open(ctx, auth.System(by), w.ID, "")
		return err
	})
	return link, err
}

func (d databaseWorkspaces) Logs(ctx context.Context, w workspace.Workspace, lines int, to io.Writer) error {
	return d.at(ctx, func(h *workspaceHost) error { return h.Logs(ctx, w, lines, to) })
}
