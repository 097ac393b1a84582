package accountpages

import (
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// joinsView is who may become a node, and who has.
type joinsView struct {
	joins         []auth.Join
	nodes         []auth.NodeCredential
	newest, older string
	manage        bool
}

func (w *pages) joins(r *site.Request) (site.View, error) {
	ctx := r.Context()
	v := joinsView{manage: r.Can(auth.Manage, "join")}
	var err error
	if v.joins, err = w.Auth.Joins(r.Context(), r.Subject); err != nil {
		return site.View{}, err
	}
	nodes, err := w.Auth.NodeCredentials(r.Context(), auth.Page{Limit: site.PerPage + 1, After: r.Query("after")})
	if err != nil {
		return site.View{}, err
	}
	v.nodes, v.newest, v.older = site.NamesPaged(r, nodes, func(c auth.NodeCredential) string { return c.Node })
	head := ui.Head{Title: ui.Say(ctx, "word.credentialsofnodes"), Crumbs: []ui.Crumb{{
		Label: ui.Say(ctx, "word.nodes"),
		Href:  "/nodes",
	}}}
	if v.manage {
		head.Actions = ui.Ask(ui.Say(ctx, "word.addanode"), "plus", "/new-join", false)
	}
	return site.View{Head: head, Body: joinsPage(v), Follow: people()}, nil
}

// joinBound is what the node may be.
func joinBound(r *site.Request) (b auth.Bound, anything bool, err error) {
	labels, err := site.ReadPairs(r, "labels")
	if err != nil {
		return b, false, err
	}
	services, err := site.ReadCapacity(r, "services")
	if err != nil {
		return b, false, err
	}
	if len(labels) > 0 {
		b.Labels = labels
	}
	if len(services) > 0 {
		b.Services = services
	}
	anything = r.Field("may") == "any"
	if !anything && b.Labels == nil && b.Services == nil {
		return b, false, problem.Refuse("services", "name a service or a label, or choose any work", "it is not said what the node may do")
	}
	return b, anything, nil
}

func askNewJoin(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return ui.Question{
		Title: ui.Say(ctx, "word.addanode"), Button: ui.Say(ctx, "join.make"), Back: "/nodes",
		Text: ui.Say(ctx, "join.text"),
		Fields: []ui.Field{
			{
				Name: "node", Label: ui.Say(ctx, "word.nameofthenode"), Optional: true, Example: "pc1", Focus: true, Auto: "off",
				Hint: ui.Say(ctx, "join.node.hint"),
			},
			{
				Name: "may", Label: ui.Say(ctx, "word.itmaydo"), Type: "select", Options: ui.Codes(ctx, "bound.", "named", "any"),
				Value: "named",
			},
			{
				Name: "services", Label: ui.Say(ctx, "word.services"), Type: "area", Rows: 3, Optional: true, Example: "renderer=2",
				Hint: ui.Say(ctx, "join.services.hint"),
			},
			{
				Name: "labels", Label: ui.Say(ctx, "word.labels"), Type: "area", Rows: 3, Optional: true, Example: "zone=eu",
				Hint: ui.Say(ctx, "join.labels.hint"),
			},
			{
				Name: "hours", Label: ui.Say(ctx, "word.worksfor"), Type: "select", Options: ui.Codes(ctx, "hours.", "1", "24", "168"),
				Value: "1",
			},
		},
	}, nil
}

func (w *pages) createJoin(r *site.Request) (site.Done, error) {
	ctx := r.Context()
	hours, err := strconv.Atoi(r.Field("hours"))
	if err != nil || hours < 1 || hours > 24*30 {
		return site.Done{}, problem.Refuse("hours", "choose one of the list", "a join token cannot work for %q hours", r.Field("hours"))
	}
	node := r.Field("node")
	bound, anything, err := joinBound(r)
	if err != nil {
		return site.Done{}, err
	}
	in := account.JoinBody{Node: node, Labels: bound.Labels, Services: bound.Services, Any: anything}
	in.TTL = op.Period(time.Duration(hours) * time.Hour)
	made, err := account.CreateJoin.Call(r.Context(), w.Operations, &account.CreatingJoin{Body: in})
	if err != nil {
		return site.Done{}, err
	}
	title := ui.Say(ctx, "join.title")
	if node != "" {
		title = ui.Say(ctx, "join.title.for", node)
	}
	return site.Done{Show: &site.View{
		Head: ui.Head{Title: title, Crumbs: []ui.Crumb{{Label: ui.Say(ctx, "word.nodes"), Href: "/nodes"}, {Label: ui.Say(ctx, "word.credentials"), Href: "/joins"}}},
		Body: joinPage(made.Secret, joinCommand(r.Origin())),
	}}, nil
}

// joinCommand exchanges a join token for the credential of a node. The secret is
// read, not written on the line: lines are kept by the shell.
func joinCommand(server string) string {
	return `curl --json @join.json ` + server + `/api/v1/join`
}

func askRevokeJoin(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return ui.Question{
		Title: ui.Say(ctx, "word.revokethisjointoken"), Button: ui.Say(ctx, "token.revoke"), Danger: true, Back: "/joins",
		Text: ui.Say(ctx, "join.revoke.text"),
	}, nil
}

func joinRevoked(r *site.Request, _ op.Nothing) site.Done {
	return site.Done{To: "/joins", Say: ui.Say(r.Context(), "said.join.revoked")}
}
