package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// WorkspaceCommandInput is a command on a workspace. The body may be left out.
type WorkspaceCommandInput struct {
	WorkspaceInput
	Body *DecisionBody
}

// WorkspaceAnswer says whether a command changed something, and how things stand.
type WorkspaceAnswer struct {
	Changed   bool          `json:"changed" doc:"false: it was so already."`
	Workspace WorkspaceBody `json:"workspace"`
}

// want wants another phase of a workspace.
func (a *API) want(ctx context.Context, in WorkspaceInput, phase ladder.Phase, reason string) (*One[WorkspaceAnswer], error) {
	store, w, err := a.workspaceOf(ctx, in, auth.Command)
	if err != nil {
		return nil, err
	}
	if phase == ladder.Running {
		if err := workspace.MayLive(auth.From(ctx), w.Provider); err != nil {
			return nil, err
		}
	}
	changed, err := store.Want(ctx, w.ID, phase, auth.From(ctx).By(), reason)
	return commanded(ctx, store, w, changed, err)
}

func commanded(ctx context.Context, store Workspaces, w workspace.Workspace, changed bool, err error) (*One[WorkspaceAnswer], error) {
	if err != nil {
		return nil, err
	}
	now, err := bodyNow(ctx, store, w.ID)
	return one(WorkspaceAnswer{changed, now}, err)
}

func (a *API) startWorkspace(ctx context.Context, in *WorkspaceCommandInput) (*One[WorkspaceAnswer], error) {
	return a.want(ctx, in.WorkspaceInput, ladder.Running, op.Given(in.Body).Reason)
}

func (a *API) stopWorkspace(ctx context.Context, in *WorkspaceCommandInput) (*One[WorkspaceAnswer], error) {
	return a.want(ctx, in.WorkspaceInput, ladder.Standby, op.Given(in.Body).Reason)
}

func (a *API) archiveWorkspace(ctx context.Context, in *WorkspaceCommandInput) (*One[WorkspaceAnswer], error) {
	return a.want(ctx, in.WorkspaceInput, ladder.Archived, op.Given(in.Body).Reason)
}

// DeleteWorkspaceInput names a workspace, and why it goes.
type DeleteWorkspaceInput struct {
	WorkspaceInput
	Reason string `query:"reason" maxLength:"1000" doc:"For people; goes to the timeline."`
}

func (a *API) deleteWorkspace(ctx context.Context, in *DeleteWorkspaceInput) (*One[WorkspaceAnswer], error) {
	return a.want(ctx, in.WorkspaceInput, ladder.Deleted, in.Reason)
}

// RecoverWorkspaceInput clears an error. The body may be left out.
type RecoverWorkspaceInput struct {
	WorkspaceInput
	Body *struct {
		Reason  string `json:"reason,omitempty" maxLength:"1000" doc:"For people; goes to the timeline."`
		Fresh   bool   `json:"fresh,omitempty" doc:"The home is lost: begin with its last archive that is there, or with an empty one."`
		Archive string `json:"archive,omitempty" maxLength:"500" doc:"Bring the home back from this archive, whatever came after it: a key of the list of archives."`
	}
}

func (a *API) recoverWorkspace(ctx context.Context, in *RecoverWorkspaceInput) (*One[WorkspaceAnswer], error) {
	store, w, err := a.workspaceOf(ctx, in.WorkspaceInput, auth.Command)
	if err != nil {
		return nil, err
	}
	reason, fresh, archive := "", false, ""
	if in.Body != nil {
		reason, fresh, archive = in.Body.Reason, in.Body.Fresh, in.Body.Archive
	}
	var changed bool
	switch {
	case fresh && archive != "":
		return nil, problem.Refuse("archive", "leave one of them out", "fresh and archive: it is not clear what the home shall be")
	case archive != "":
		changed, err = store.RecoverFrom(ctx, w.ID, auth.From(ctx).By(), reason, archive)
	default:
		changed, err = store.Recover(ctx, w.ID, auth.From(ctx).By(), reason, fresh)
	}
	return commanded(ctx, store, w, changed, err)
}

// Opened is where a workspace is.
type Opened struct {
	URL string `json:"url" doc:"It opens the workspace for who asked, once and within 30 seconds."`
}

func (a *API) openWorkspace(ctx context.Context, in *WorkspaceInput) (*One[Opened], error) {
	_, w, err := a.workspaceOf(ctx, *in, auth.Command)
	if err == nil {
		err = workspace.MayLive(auth.From(ctx), w.Provider)
	}
	if err != nil {
		return nil, err
	}
	url, err := a.config.WorkspaceHost.Open(ctx, auth.From(ctx), w.ID, "")
	return one(Opened{url}, err)
}

func (a *API) whyWorkspace(ctx context.Context, in *WorkspaceInput) (*One[workspace.Why], error) {
	store, w, err := a.workspaceOf(ctx, *in, auth.Read)
	if err != nil {
		return nil, err
	}
	return one(store.Why(ctx, w.ID))
}

// WorkspaceLogInput reads what became of a workspace.
type WorkspaceLogInput struct {
	WorkspaceInput
	op.Paged
}

func (a *API) workspaceLog(ctx context.Context, in *WorkspaceLogInput) (*Listed[workspace.Entry], error) {
	store, w, err := a.workspaceOf(ctx, in.WorkspaceInput, auth.Read)
	if err != nil {
		return nil, err
	}
	entries, err := store.Log(ctx, w.ID, in.Page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, entries, in.Limit, func(e workspace.Entry) string { return strconv.FormatInt(e.Seq, 10) }), nil
}

func (a *API) workspaceArchives(ctx context.Context, in *WorkspaceInput) (*All[workspace.Archive], error) {
	store, w, err := a.workspaceOf(ctx, *in, auth.Read)
	if err != nil {
		return nil, err
	}
	archives, err := store.Archives(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	return all(archives), nil
}

// WorkspaceLogsInput reads what a container printed.
type WorkspaceLogsInput struct {
	WorkspaceInput
	Lines int `query:"lines" minimum:"1" maximum:"10000" default:"200" doc:"How many at most."`
}

// Printed is what a container printed.
type Printed struct {
	Text string `json:"text"`
}

func (a *API) workspaceLogs(ctx context.Context, in *WorkspaceLogsInput) (*One[Printed], error) {
	_, w, err := a.workspaceOf(ctx, in.WorkspaceInput, auth.Read)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = a.config.WorkspaceHost.Logs(ctx, w, in.Lines, &text)
	return one(Printed{text.String()}, err)
}

func (a *API) workspacePolicy(ctx context.Context, _ *struct{}) (*One[workspace.Policy], error) {
	store, err := a.workspaces()
	if err != nil {
		return nil, err
	}
	return one(store.Policy(ctx))
}

// WorkspacePolicyInput changes what holds for all. What it does not name stays.
type WorkspacePolicyInput struct {
	Body struct {
		PerUser    *int  `json:"per_user,omitempty" minimum:"0" maximum:"10000" doc:"How many workspaces of a user may run at once."`
		InAll      *int  `json:"in_all,omitempty" minimum:"0" maximum:"100000" doc:"How many may run at once."`
		StandbyTTL *Wait `json:"standby_ttl,omitempty" doc:"After how long without use one is stopped."`
		ArchiveTTL *Wait `json:"archive_ttl,omitempty" doc:"After how long in standby one is archived."`
		MaxLife    *Wait `json:"max_life,omitempty" doc:"How long one may run in one piece. 0s: for ever."`
		BusyMost   *Wait `json:"busy_most,omitempty" doc:"For how long a workspace may say that it is busy."`
	}
}

func (a *API) setWorkspacePolicy(ctx context.Context, in *WorkspacePolicyInput) (*One[workspace.Policy], error) {
	store, err := a.workspaces()
	if err != nil {
		return nil, err
	}
	b := &in.Body
	return one(store.SetPolicy(ctx, auth.From(ctx).By(), workspace.PolicyChange{
		PerUser: b.PerUser, InAll: b.InAll, StandbyTTL: (*node.Span)(b.StandbyTTL), ArchiveTTL: (*node.Span)(b.ArchiveTTL), MaxLife: (*node.Span)(b.MaxLife), BusyMost: (*node.Span)(b.BusyMost),
	}))
}

// ImportWorkspacesInput has rows of an earlier installation.
type ImportWorkspacesInput struct {
	Body struct {
		Rows     []json.RawMessage `json:"rows" maxItems:"10000" doc:"Rows of the earlier table, each as JSON."`
		Owner    string            `json:"owner,omitempty" maxLength:"200" doc:"Whose those become that belonged to nobody known here. Left out: they are refused."`
		Provider string            `json:"provider,omitempty" maxLength:"40" doc:"How they run. Left out: as their rows say."`
	}
}

func (a *API) importWorkspaces(ctx context.Context, in *ImportWorkspacesInput) (*All[workspace.Imported], error) {
	if _, err := a.workspaces(); err != nil {
		return nil, err
	}
	var owner weir.ID
	if in.Body.Owner != "" {
		var err error
		if owner, err = a.ownerOf(ctx, in.Body.Owner, auth.Manage); err != nil {
			return nil, err
		}
	}
	done, err := a.config.WorkspaceHost.Import(ctx, auth.From(ctx).By(), owner, in.Body.Provider, in.Body.Rows)
	if err != nil {
		return nil, err
	}
	return all(done), nil
}
