package remote_test

import (
	"context"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/docker"
)

// newYard returns the host of a test's workspaces; nothing is started here.
func newYard(t *testing.T, r *rig) *workspace.Host {
	t.Helper()
	containers, err := docker.New(docker.Config{Install: "test", Host: "unix:///nowhere.sock", Images: []string{"go"}})
	if err != nil {
		t.Fatal(err)
	}
	return &workspace.Host{
		Store: workspace.New(r.db.Pool), Users: r.auth, Offered: []string{"docker"}, Providers: []provider.Provider{containers},
		Address: workspace.Address{Scheme: "http", Domain: "localhost", Port: "8470"},
	}
}

// Workspaces give the same results over a server as on the database.
func TestWorkspacesAreTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	near, far := op.Local{Stores: []any{newYard(t, r)}, Who: func(context.Context) auth.Subject { return auth.System("test") }}, r.as(auth.Operator)
	ctx := t.Context()
	create := &workspace.Creating{Keyed: op.Keyed{IdempotencyKey: "k"}, Body: workspace.CreateBody{Name: "notes", Description: "for ideas", StandbyTTL: op.Wait(time.Hour), Desired: "ARCHIVED"}}
	made, err := workspace.Create.Call(ctx, far, create)
	if err != nil || made.Existed || made.Name != "notes" || made.StandbyTTL != node.Span(time.Hour) || made.ArchiveTTL != node.Span(30*time.Minute) || made.Provider != "docker" {
		t.Fatalf("made %s, %v", plain(t, made), err)
	}
	if again, err := workspace.Create.Call(ctx, far, create); err != nil || !again.Existed || again.ID != made.ID {
		t.Errorf("made twice: %s, %v", plain(t, again), err)
	}
	// Only the given fields are changed.
	named := workspace.Named{Workspace: made.ID.String()}
	name, none, longer := "ideas", op.Wait(0), op.Wait(2*time.Hour)
	view := must[workspace.View](t)
	view(workspace.Set.Call(ctx, far, &workspace.Changing{Named: named, Body: workspace.Change{Name: &name, StandbyTTL: &none, ArchiveTTL: &longer}}))
	if w := view(workspace.Show.Call(ctx, far, &workspace.Named{Workspace: "ideas"})); w.Description != "for ideas" || w.StandbyTTL != node.Span(10*time.Minute) || w.ArchiveTTL != node.Span(longer) {
		t.Errorf("changed: %s", plain(t, w))
	}
	did := func(a workspace.Answer, err error) bool { return must[workspace.Answer](t)(a, err).Changed }
	soon, decided := &workspace.Decision{Named: named, Body: &op.DecisionBody{Reason: "soon"}}, &workspace.Decision{Named: named}
	if !did(workspace.Stop.Call(ctx, far, soon)) || did(workspace.Stop.Call(ctx, far, decided)) || !did(workspace.Start.Call(ctx, far, decided)) {
		t.Error("what was wanted is told wrongly")
	}
	if did(workspace.Recover.Call(ctx, far, &workspace.Recovering{Named: named})) {
		t.Error("there was nothing to recover from")
	}
	r.db.Settle(t)
	two := op.Paged{Limit: 2}
	for name, both := range map[string]func(op.Caller) (any, error){
		"workspace": func(c op.Caller) (any, error) { return workspace.Show.Call(ctx, c, &named) },
		"list": func(c op.Caller) (any, error) {
			return workspace.List.Call(ctx, c, &workspace.Listing{Paged: two, Search: "ide"})
		},
		"why": func(c op.Caller) (any, error) { return workspace.Explain.Call(ctx, c, &named) },
		"log": func(c op.Caller) (any, error) {
			return workspace.ListLog.Call(ctx, c, &workspace.ListingLog{Named: named, Paged: two})
		},
		"archives": func(c op.Caller) (any, error) { return workspace.ListArchives.Call(ctx, c, &named) },
		"policy":   func(c op.Caller) (any, error) { return workspace.ShowPolicy.Call(ctx, c, &struct{}{}) },
	} {
		if a, b := plain(t, must[any](t)(both(near))), plain(t, must[any](t)(both(far))); a != b {
			t.Errorf("%s: %s and %s", name, a, b)
		}
	}
	if at := must[workspace.Opened](t)(workspace.Open.Call(ctx, far, &named)); at.URL == "" {
		t.Error("it does not open")
	}
	three := 3
	change := &workspace.SettingPolicy{Body: workspace.PolicyChange{PerUser: &three, MaxLife: &longer}}
	if p := must[workspace.Policy](t)(workspace.SetPolicy.Call(ctx, r.as(auth.Admin), change)); p.PerUser != 3 || p.MaxLife != node.Span(longer) || p.InAll != 100 {
		t.Errorf("the policy is %+v", p)
	}
	missing := &workspace.Recovering{Named: workspace.Named{Workspace: weir.ID{1}.String()}, Body: &workspace.RecoverBody{Archive: "x"}}
	for what, err := range map[string]error{
		"nothing":    failure(workspace.Show.Call(ctx, far, &workspace.Named{Workspace: "nothing"})),
		"no name":    failure(workspace.Show.Call(ctx, far, &workspace.Named{Workspace: ".."})),
		"an archive": failure(workspace.Recover.Call(ctx, far, missing)),
	} {
		if problem.Explain(err).Kind != problem.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !did(workspace.Delete.Call(ctx, far, &workspace.Deleting{Named: named, Reason: "enough"})) {
		t.Error("it is not deleted")
	}
}
