package web

import (
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

// joinsView is who may become a node, and who has.
type joinsView struct {
	joins         []auth.Join
	nodes         []auth.NodeCredential
	newest, older string
	manage        bool
}

func (w *Web) joins(r *Request) (View, error) {
	v := joinsView{manage: r.Can(auth.Manage, "join")}
	var err error
	if v.joins, err = w.config.Auth.Joins(r.Context(), r.Subject); err != nil {
		return View{}, err
	}
	nodes, err := w.config.Auth.NodeCredentials(r.Context(), auth.Page{Limit: perPage + 1, After: r.Query("after")})
	if err != nil {
		return View{}, err
	}
	v.nodes, v.newest, v.older = namesPaged(r, nodes, func(c auth.NodeCredential) string { return c.Node })
	head := ui.Head{Title: "Credentials of nodes", Crumbs: []ui.Crumb{{Label: "Nodes", Href: "/nodes"}}}
	if v.manage {
		head.Actions = ui.Ask("Add a node", "plus", "/new-join", false)
	}
	return View{Head: head, Body: joinsPage(v), Follow: people()}, nil
}

// joinLives are how many hours a join token may wait for its machine.
var joinLives = []ui.Option{{Value: "1", Label: "an hour"}, {Value: "24", Label: "a day"}, {Value: "168", Label: "a week"}}

// joinBounds: who has the credential of a node that may do any work gets all work there is.
var joinBounds = []ui.Option{{Value: "named", Label: "what is named here"}, {Value: "any", Label: "any work"}}

// joinBound is what the node may be.
func joinBound(r *Request) (b auth.Bound, anything bool, err error) {
	labels, err := readPairs(r, "labels")
	if err != nil {
		return b, false, err
	}
	services, err := readCapacity(r, "services")
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

func askNewJoin(*Request) (ui.Question, error) {
	return ui.Question{
		Title: "Add a node", Button: "Make a join token", Back: "/nodes",
		Text: "A machine shows the token once and gets a credential of its own for it. Whoever has the token can become the node: hand it over with care.",
		Fields: []ui.Field{
			{Name: "node", Label: "Name of the node", Optional: true, Example: "pc1", Focus: true, Auto: "off", Hint: "With a name, the machine takes the place of the node that has it now. Empty: it chooses a name that is free."},
			{Name: "may", Label: "It may do", Type: "select", Options: joinBounds, Value: "named"},
			{Name: "services", Label: "Services", Type: "area", Rows: 3, Optional: true, Example: "renderer=2", Hint: "With the most at once, one on a line. Empty: what its agent offers."},
			{Name: "labels", Label: "Labels", Type: "area", Rows: 3, Optional: true, Example: "zone=eu", Hint: "One on a line. Empty: those of its agent."},
			{Name: "hours", Label: "Works for", Type: "select", Options: joinLives, Value: "1"},
		},
	}, nil
}

func (w *Web) createJoin(r *Request) (Done, error) {
	hours, err := strconv.Atoi(r.Field("hours"))
	if err != nil || hours < 1 || hours > 24*30 {
		return Done{}, problem.Refuse("hours", "choose one of the list", "a join token cannot work for %q hours", r.Field("hours"))
	}
	node := r.Field("node")
	bound, anything, err := joinBound(r)
	if err != nil {
		return Done{}, err
	}
	secret, err := w.config.Auth.CreateJoin(r.Context(), r.Subject, auth.NewJoin{Node: node, Bound: bound, Any: anything, TTL: time.Duration(hours) * time.Hour})
	if err != nil {
		return Done{}, err
	}
	title := "A join token"
	if node != "" {
		title += " for " + node
	}
	return Done{Show: &View{
		Head: ui.Head{Title: title, Crumbs: []ui.Crumb{{Label: "Nodes", Href: "/nodes"}, {Label: "Credentials", Href: "/joins"}}},
		Body: joinPage(secret, joinCommand(origin(r.Request))),
	}}, nil
}

// joinCommand exchanges a join token for the credential of a node. The secret is
// read, not written on the line: lines are kept by the shell.
func joinCommand(server string) string {
	return `curl --json @join.json ` + server + `/api/v1/join`
}

func askRevokeJoin(*Request) (ui.Question, error) {
	return ui.Question{
		Title: "Revoke this join token?", Button: "Revoke the token", Danger: true, Back: "/joins",
		Text: "No machine can become a node with it any more. Nodes that have joined are not touched.",
	}, nil
}

func (w *Web) revokeJoin(r *Request) (Done, error) {
	if err := w.config.Auth.RevokeJoin(r.Context(), r.Subject, r.PathValue("id")); err != nil {
		return Done{}, err
	}
	return Done{To: "/joins", Say: "The join token is revoked."}, nil
}
