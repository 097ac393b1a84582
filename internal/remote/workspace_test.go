package remote_test

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/remote"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
)

var _ app.Workspaces = (*remote.Workspaces)(nil)

// yard is where the workspaces of a test would run: nothing is started here.
type yard struct{ *workspace.Store }

func (yard) Providers() []string { return []string{"docker"} }

func (yard) Image(_, image string) error {
	return workspace.RefusedImage(docker.Config{Images: []string{"go"}}.Image(image))
}

func (y yard) Open(ctx context.Context, by auth.Subject, id weir.ID, next string) (string, error) {
	return y.Store.Open(ctx, by, id, workspace.Address{Scheme: "http", Domain: "localhost", Port: "8470"}, next)
}

func (yard) Logs(_ context.Context, _ workspace.Workspace, lines int, to io.Writer) error {
	_, err := io.WriteString(to, "printed\n"[:min(lines, 8)])
	return err
}

func (y yard) Import(ctx context.Context, by string, owner weir.ID, provider string, rows []json.RawMessage) ([]workspace.Imported, error) {
	return workspace.Importer{Store: y.Store, Owner: owner, Provider: provider}.Import(ctx, by, rows)
}

// Through a server workspaces are what they are on the database.
func TestWorkspacesAreTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	near, far := workspace.New(r.db.Pool), r.as(auth.Operator).Workspaces()
	ctx := t.Context()
	made, existed, err := far.Create(ctx, "ignored", "", workspace.Draft{Name: "notes", Description: "for ideas", StandbyTTL: node.Span(time.Hour), Desired: ladder.Archived, Key: "k"})
	if err != nil || existed || made.Name != "notes" || made.StandbyTTL != node.Span(time.Hour) || made.ArchiveTTL != node.Span(30*time.Minute) || made.Provider != "docker" {
		t.Fatalf("made %s, %v", plain(t, made), err)
	}
	if again, existed, err := far.Create(ctx, "", "", workspace.Draft{Name: "notes", Description: "for ideas", StandbyTTL: node.Span(time.Hour), Desired: ladder.Archived, Key: "k"}); err != nil || !existed || again.ID != made.ID {
		t.Errorf("made twice: %s, %v, %v", again.ID, existed, err)
	}
	// What is named is changed, and nothing else.
	name, none, longer := "ideas", node.Span(0), node.Span(2*time.Hour)
	must[bool](t)(far.Patch(ctx, made.ID, "", workspace.Change{Name: &name, StandbyTTL: &none, ArchiveTTL: &longer}))
	if w := must[workspace.Workspace](t)(far.Find(ctx, "ideas")); w.Description != "for ideas" || w.StandbyTTL != node.Span(10*time.Minute) || w.ArchiveTTL != longer {
		t.Errorf("changed: %s", plain(t, w))
	}
	did := must[bool](t)
	if !did(far.Want(ctx, made.ID, ladder.Standby, "", "soon")) || did(far.Want(ctx, made.ID, ladder.Standby, "", "")) || !did(far.Want(ctx, made.ID, ladder.Running, "", "")) {
		t.Error("what was wanted is told wrongly")
	}
	if did(far.Recover(ctx, made.ID, "", "", false)) {
		t.Error("there was nothing to recover from")
	}
	r.db.Settle(t)
	page := view.Page{Limit: 2}
	for name, pair := range map[string][2]any{
		"workspace": {must[workspace.Workspace](t)(near.Workspace(ctx, made.ID)), must[workspace.Workspace](t)(far.Workspace(ctx, made.ID))},
		"list":      {must[[]workspace.Workspace](t)(near.List(ctx, workspace.Filter{Search: "ide"}, page)), must[[]workspace.Workspace](t)(far.List(ctx, workspace.Filter{Search: "ide"}, "", false, page))},
		"why":       {must[workspace.Why](t)(near.Why(ctx, made.ID)), must[workspace.Why](t)(far.Why(ctx, made.ID))},
		"log":       {must[[]workspace.Entry](t)(near.Log(ctx, made.ID, page)), must[[]workspace.Entry](t)(far.Log(ctx, made.ID, page))},
		"policy":    {must[workspace.Policy](t)(near.Policy(ctx)), must[workspace.Policy](t)(far.Policy(ctx))},
	} {
		if a, b := plain(t, pair[0]), plain(t, pair[1]); a != b {
			t.Errorf("%s: %s and %s", name, a, b)
		}
	}
	if link := must[string](t)(far.Open(ctx, made, "")); link == "" {
		t.Error("it does not open")
	}
	three := 3
	admin := r.as(auth.Admin).Workspaces()
	if p := must[workspace.Policy](t)(admin.SetPolicy(ctx, "", workspace.PolicyChange{PerUser: &three, MaxLife: &longer})); p.PerUser != 3 || p.MaxLife != longer || p.InAll != 100 {
		t.Errorf("the policy is %+v", p)
	}
	for what, err := range map[string]error{
		"nothing": failure(far.Find(ctx, "nothing")), "no name": failure(far.Find(ctx, "..")), "an archive": failure(far.RecoverFrom(ctx, weir.ID{1}, "", "", "x")),
	} {
		if problem.Explain(err).Kind != problem.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !did(far.Want(ctx, made.ID, ladder.Deleted, "", "enough")) {
		t.Error("it is not deleted")
	}
}
