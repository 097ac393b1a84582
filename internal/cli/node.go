package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

func (e *env) node() *cobra.Command {
	return e.noun("node", "Machines: what they run and whether they may", []string{"nodes"}, lists(e, work.ListNodes, &cobra.Command{}, nodeListing),
		e.nodeShow(), e.nodeSet(), e.nodeWake(),
		e.nodeMode("drain", "Let a node finish what it runs and give it nothing new", weir.Draining),
		e.nodeMode("pause", "Give a node nothing new", weir.Paused),
		e.nodeMode("activate", "Let a node work again", weir.Active), e.nodeRevoke(), e.nodeDelete())
}

func (e *env) nodeRevoke() *cobra.Command {
	c := &cobra.Command{
		Short: "Take a node's credential away: its calls fail at once",
		Long: `Take a node's credential away: every call of its agent over HTTPS fails from now
on, and what it runs goes to others when its leases end. To let the machine join
again: weir join create --node NAME --service SERVICE=N`,
	}
	return operation(e, account.RevokeNode, c, func(_ context.Context, _ *app.Session, in *account.NamedNode, _ op.Nothing) error {
		return e.output().did(in.Node, bare{in.Node}, "Node %s has no credential any more.", clean(in.Node))
	})
}

func (e *env) nodeDelete() *cobra.Command {
	c := &cobra.Command{
		Aliases: []string{"rm", "drop"}, Short: "Remove a node that is gone for good",
		Long: `Remove a node that is gone for good, with its credential and how it is woken. It is
refused while its agent lives. What it ran stays in the timeline.`,
	}
	return operation(e, work.DropNode, c, func(_ context.Context, _ *app.Session, in *work.NamedNode, _ op.Nothing) error {
		return e.output().did(in.Node, bare{in.Node}, "Node %s is gone.", clean(in.Node))
	})
}

var nodeListing = listing[view.Node]{
	name:  func(n view.Node) string { return n.Name },
	empty: []string{"There are no nodes.", "Start an agent on a machine with: weir agent; or look at the demo: weir up --demo"},
	columns: []column[view.Node]{
		{title: "NAME", value: func(_ *output, n view.Node) string { return n.Name }},
		{title: "STATE", value: func(_ *output, n view.Node) string { return n.State }, paint: stateColor},
		{title: "WORKERS", value: func(_ *output, n view.Node) string { return fmt.Sprint(n.Workers) }},
		{title: "RUNNING", value: func(_ *output, n view.Node) string { return fmt.Sprint(n.Running) }},
		{title: "CAPACITY", value: func(_ *output, n view.Node) string { return labels(n.Capacity) }},
		{title: "LABELS", wide: true, value: func(_ *output, n view.Node) string { return labels(n.Labels) }},
		{title: "DRIVERS", wide: true, value: func(_ *output, n view.Node) string { return strings.Join(n.Drivers, ",") }},
		{title: "VERSION", wide: true, value: func(_ *output, n view.Node) string { return n.Version }},
		{title: "WAKE", wide: true, value: func(_ *output, n view.Node) string { return n.WakeMethod }},
		{title: "SEEN", ages: true, value: func(o *output, n view.Node) string { return o.ago(n.SeenAt) }},
		{title: "NOTE", value: nodeNote},
	},
}

// nodeNote is the one thing to know about a node where it stands: a dead one may
// only be asleep.
func nodeNote(o *output, n view.Node) string {
	sleeps := n.WakeMethod != "" && (n.WakeState == "asleep" || n.WakeState == "waking")
	switch {
	case sleeps && n.WakeNote != "":
		return n.WakeState + " since " + o.ago(n.WakeAt) + ": " + n.WakeNote
	case sleeps:
		return n.WakeState + " since " + o.ago(n.WakeAt)
	}
	return n.Note
}

// wakeText says how a node is woken and whether it sleeps.
func wakeText(o *output, n view.Node) string {
	if n.WakeMethod == "" {
		return ""
	}
	text := n.WakeMethod + ", " + n.WakeState
	if !n.WakeAt.IsZero() {
		text += " since " + o.both(n.WakeAt)
	}
	if n.WakeNote != "" {
		text += ": " + n.WakeNote
	}
	return text
}

// nodePage is everything about a node.
type nodePage struct {
	view.Node
	List []view.Worker `json:"worker_list"`
}

func (e *env) nodeShow() *cobra.Command {
	c := &cobra.Command{Short: "Show a node and its workers"}
	return operation(e, work.ShowNode, c, func(ctx context.Context, s *app.Session, _ *work.NamedNode, node view.Node) error {
		found, err := work.ListWorkers.Call(ctx, s.Operations, &work.ListingWorkers{Paged: op.Paged{Limit: 1000}, Node: node.Name})
		if err != nil {
			return err
		}
		o, page := e.output(), nodePage{node, found.Items}
		return o.show(node.Name, page, func() error { return printNode(o, page) })
	})
}

func printNode(o *output, n nodePage) error {
	if err := o.details([]field{
		{"Node", n.Name},
		{"State", n.State},
		{"Until", o.both(n.ModeUntil)},
		{"Note", n.Note},
		{"Running", fmt.Sprint(n.Running)},
		{"Capacity", labels(n.Capacity)},
		{"Labels", labels(n.Labels)},
		{"Drivers", strings.Join(n.Drivers, ", ")},
		{"Version", n.Version},
		{"Wake", wakeText(o, n.Node)},
		{"Sleeps after", interval(n.SleepAfter)},
		{"Seen", o.both(n.SeenAt)},
		{"Registered", o.both(n.RegisteredAt)},
	}); err != nil {
		return err
	}
	return workerListing.below(o, "", n.List)
}

func (e *env) nodeMode(verb, short string, mode weir.Mode) *cobra.Command {
	var reason, until string
	c := &cobra.Command{
		Use: verb + " NAME", Short: short, Args: e.args("NAME"),
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
			o := e.output()
			in := work.SettingMode{NamedNode: work.NamedNode{Node: args[0]}, Body: work.ModeBody{Mode: string(mode), Reason: reason}}
			if until != "" {
				end, err := readTime(until, o.now)
				if err != nil {
					return invalid("", "--until: %s", err)
				}
				if !end.After(o.now) {
					return invalid("give a time to come, or a duration such as 10m", "--until: %s is past", exact(end))
				}
				in.Body.Until = end
			}
			if _, err := work.SetMode.Call(ctx, s.Operations, &in); err != nil {
				return err
			}
			return o.did(args[0], struct {
				Name string    `json:"name"`
				Mode weir.Mode `json:"mode"`
			}{args[0], mode}, "Node %s is %s.", args[0], mode)
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for people")
	if mode != weir.Active {
		c.Flags().StringVar(&until, "until", "", "end it by itself at this `time`, or after a duration")
	}
	return c
}
