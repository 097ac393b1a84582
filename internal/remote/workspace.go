package remote

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Workspaces does with workspaces what a store on the database does, as far as who asks
// may. Who that is, the server knows; by is not sent.
type Workspaces struct{ client *Client }

// Workspaces is the part of the client that is about workspaces.
func (c *Client) Workspaces() *Workspaces { return &Workspaces{client: c} }

// workspaceBody is a new workspace as the API takes it.
type workspaceBody struct {
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Image       string       `json:"image,omitempty"`
	Provider    string       `json:"provider,omitempty"`
	Desired     ladder.Phase `json:"desired,omitempty"`
	StandbyTTL  any          `json:"standby_ttl,omitempty"`
	ArchiveTTL  any          `json:"archive_ttl,omitempty"`
	Owner       string       `json:"owner,omitempty"`
}

// Create makes a workspace, for owner or, empty, for who asks. After a lost connection it
// tries again only if there is an idempotency key.
func (w *Workspaces) Create(ctx context.Context, _, owner string, d workspace.Draft) (out workspace.Workspace, existed bool, err error) {
	body := workspaceBody{Name: d.Name, Description: d.Description, Image: d.Image, Provider: d.Provider, Desired: d.Desired, Owner: owner}
	if d.StandbyTTL > 0 {
		body.StandbyTTL = d.StandbyTTL
	}
	if d.ArchiveTTL > 0 {
		body.ArchiveTTL = d.ArchiveTTL
	}
	status, err := w.client.doStatus(ctx, call{method: http.MethodPost, path: []string{"workspaces"}, header: keyed(d.Key), body: body}, &out)
	return out, status == http.StatusOK, err
}

// List lists workspaces, the newest first: those of owner, everybody's, or else one's own.
func (w *Workspaces) List(ctx context.Context, f workspace.Filter, owner string, all bool, page view.Page) ([]workspace.Workspace, error) {
	query := values("owner", owner, "phase", string(f.Phase), "provider", f.Provider, "search", f.Search, "deleted", yes(f.Deleted), "all", yes(all && owner == ""))
	return list[workspace.Workspace](ctx, w.client, query, page, "workspaces")
}

// Find reads one by its id or its name; owner/name is somebody else's.
func (w *Workspaces) Find(ctx context.Context, ref string) (out workspace.Workspace, err error) {
	if ref == "" || ref == "." || ref == ".." { // no part of an address
		return out, problem.New(problem.NotFound, "see them with: weir workspace list", "there is no workspace %q", ref)
	}
	return one[workspace.Workspace](ctx, w.client, nil, "workspaces", ref)
}

// Workspace reads one.
func (w *Workspaces) Workspace(ctx context.Context, id weir.ID) (workspace.Workspace, error) {
	return one[workspace.Workspace](ctx, w.client, nil, "workspaces", id.String())
}

// changeBody is a change as the API takes it.
type changeBody struct {
	Name        *string    `json:"name,omitempty"`
	Description *string    `json:"description,omitempty"`
	Image       *string    `json:"image,omitempty"`
	StandbyTTL  *node.Span `json:"standby_ttl,omitempty"`
	ArchiveTTL  *node.Span `json:"archive_ttl,omitempty"`
}

// Patch changes what is named. Whether it was so before, the API does not say.
func (w *Workspaces) Patch(ctx context.Context, id weir.ID, _ string, c workspace.Change) (changed bool, err error) {
	var out workspace.Workspace
	_, err = w.client.do(ctx, call{method: http.MethodPatch, path: []string{"workspaces", id.String()}, body: changeBody(c)}, &out)
	return err == nil, err
}

// verbs are what the API calls the phases that somebody may want.
var verbs = map[ladder.Phase]string{ladder.Running: "start", ladder.Standby: "stop", ladder.Archived: "archive"}

// workspaceAnswer is what a command has done.
type workspaceAnswer struct {
	Changed bool `json:"changed"`
}

// Want wants another phase.
func (w *Workspaces) Want(ctx context.Context, id weir.ID, want ladder.Phase, _, reason string) (bool, error) {
	var out workspaceAnswer
	if want == ladder.Deleted {
		_, err := w.client.do(ctx, call{method: http.MethodDelete, path: []string{"workspaces", id.String()}, query: values("reason", reason)}, &out)
		return out.Changed, err
	}
	err := w.client.post(ctx, op.DecisionBody{Reason: reason}, &out, "workspaces", id.String(), verbs[want])
	return out.Changed, err
}

// Recover clears an error.
func (w *Workspaces) Recover(ctx context.Context, id weir.ID, _, reason string, fresh bool) (bool, error) {
	var out workspaceAnswer
	err := w.client.post(ctx, map[string]any{"reason": reason, "fresh": fresh}, &out, "workspaces", id.String(), "recover")
	return out.Changed, err
}

// RecoverFrom clears an error and brings the home back from an archive.
func (w *Workspaces) RecoverFrom(ctx context.Context, id weir.ID, _, reason, archive string) (bool, error) {
	var out workspaceAnswer
	err := w.client.post(ctx, map[string]any{"reason": reason, "archive": archive}, &out, "workspaces", id.String(), "recover")
	return out.Changed, err
}

// Why says why a workspace is where it is.
func (w *Workspaces) Why(ctx context.Context, id weir.ID) (workspace.Why, error) {
	return one[workspace.Why](ctx, w.client, nil, "workspaces", id.String(), "why")
}

// Log lists what became of a workspace, newest first.
func (w *Workspaces) Log(ctx context.Context, id weir.ID, page view.Page) ([]workspace.Entry, error) {
	return list[workspace.Entry](ctx, w.client, values(), page, "workspaces", id.String(), "log")
}

// Archives lists the archives of a home.
func (w *Workspaces) Archives(ctx context.Context, id weir.ID) ([]workspace.Archive, error) {
	return whole[workspace.Archive](ctx, w.client, nil, "workspaces", id.String(), "archives")
}

// Policy reads what holds for all.
func (w *Workspaces) Policy(ctx context.Context) (workspace.Policy, error) {
	return one[workspace.Policy](ctx, w.client, nil, "workspace-policy")
}

// SetPolicy changes it.
func (w *Workspaces) SetPolicy(ctx context.Context, _ string, c workspace.PolicyChange) (out workspace.Policy, err error) {
	_, err = w.client.do(ctx, call{method: http.MethodPut, path: []string{"workspace-policy"}, body: c}, &out)
	return out, err
}

// Import takes over workspaces of an earlier installation.
func (w *Workspaces) Import(ctx context.Context, _, owner, provider string, rows []json.RawMessage) ([]workspace.Imported, error) {
	var out page[workspace.Imported]
	body := map[string]any{"rows": append([]json.RawMessage{}, rows...), "owner": owner, "provider": provider}
	err := w.client.post(ctx, body, &out, "workspace-import")
	return out.Items, err
}

// Open makes an address that opens a workspace, once.
func (w *Workspaces) Open(ctx context.Context, x workspace.Workspace, _ string) (string, error) {
	var out struct {
		URL string `json:"url"`
	}
	err := w.client.post(ctx, nil, &out, "workspaces", x.ID.String(), "open")
	return out.URL, err
}

// Logs writes what the container printed last.
func (w *Workspaces) Logs(ctx context.Context, x workspace.Workspace, lines int, to io.Writer) error {
	out, err := one[struct {
		Text string `json:"text"`
	}](ctx, w.client, values("lines", strconv.Itoa(lines)), "workspaces", x.ID.String(), "logs")
	if err == nil {
		_, err = io.WriteString(to, out.Text)
	}
	return err
}
