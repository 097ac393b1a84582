package workspacepages

import (
	"context"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workspace"
)

const workspacePolicyPath = "/workspaces/policy"

// workspaceViews are the tabs over workspaces: one's own, for an admin everybody's, and
// what holds for all.
func workspaceViews(r *site.Request, current string) []ui.Tab {
	ctx := r.Context()
	tabs := []ui.Tab{{Label: ui.Say(ctx, "workspaces.mine"), Href: "/workspaces", Current: current == ""}}
	if r.Can(auth.Read, "workspace") {
		tabs = append(tabs, ui.Tab{Label: ui.Say(ctx, "workspaces.everybody"), Href: "/workspaces?whose=all", Current: current == "all"})
	}
	return append(tabs, ui.Tab{Label: ui.Say(ctx, "workspaces.policy"), Href: workspacePolicyPath, Current: current == "policy"})
}

// workspacePolicy shows what holds for all workspaces: who is refused wants to know why.
func (w *pages) workspacePolicy(r *site.Request) (site.View, error) {
	store, err := w.workspaces()
	if err != nil {
		return site.View{}, err
	}
	p, err := store.Policy(r.Context())
	if err != nil {
		return site.View{}, err
	}
	head := ui.Head{Title: ui.Say(r.Context(), "workspaces.title")}
	return site.View{Head: head, Body: workspacePolicyPage(p, workspaceViews(r, "policy"), r.Can(auth.Manage, "workspace")), Follow: workspaceEvents()}, nil
}

// lifeSaid is how long one may run in one piece.
func lifeSaid(ctx context.Context, p workspace.Policy) string {
	if p.MaxLife == 0 {
		return ui.Say(ctx, "wspolicy.forever")
	}
	return ttlSaid(ctx, p.MaxLife)
}

func (w *pages) askWorkspacePolicy(r *site.Request) (ui.Question, error) {
	store, err := w.workspaces()
	if err != nil {
		return ui.Question{}, err
	}
	ctx := r.Context()
	p, err := store.Policy(ctx)
	if err != nil {
		return ui.Question{}, err
	}
	life := ""
	if p.MaxLife > 0 {
		life = site.SpanText(time.Duration(p.MaxLife))
	}
	span := func(d node.Span) string { return site.SpanText(time.Duration(d)) }
	return ui.Question{
		Title: ui.Say(ctx, "wspolicy.change"), Text: ui.Say(ctx, "wspolicy.ask"), Button: ui.Say(ctx, "policy.save"), Back: workspacePolicyPath,
		Fields: []ui.Field{
			{Name: "per_user", Label: ui.Say(ctx, "wspolicy.peruser"), Type: "number", Value: strconv.Itoa(p.PerUser), Focus: true, Auto: "off"},
			{Name: "in_all", Label: ui.Say(ctx, "wspolicy.inall"), Type: "number", Value: strconv.Itoa(p.InAll), Auto: "off"},
			{Name: "standby_ttl", Label: ui.Say(ctx, "wspolicy.standby"), Value: span(p.StandbyTTL), Hint: ui.Say(ctx, "wspolicy.standby.hint"), Auto: "off"},
			{Name: "archive_ttl", Label: ui.Say(ctx, "wspolicy.archive"), Value: span(p.ArchiveTTL), Hint: ui.Say(ctx, "wspolicy.archive.hint"), Auto: "off"},
			{Name: "max_life", Label: ui.Say(ctx, "wspolicy.life"), Value: life, Optional: true, Example: "12h", Hint: ui.Say(ctx, "wspolicy.life.hint"), Auto: "off"},
			{Name: "busy_most", Label: ui.Say(ctx, "wspolicy.busy"), Value: span(p.BusyMost), Hint: ui.Say(ctx, "wspolicy.busy.hint"), Auto: "off"},
		},
	}, nil
}

func changedPolicy(r *site.Request, _ workspace.Policy) site.Done {
	return site.Done{To: workspacePolicyPath, Say: ui.Say(r.Context(), "said.workspace.policy")}
}
