package machinecmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

// Node is the command weir node.
func Node(e *command.Env) *cobra.Command {
	return e.Noun("node", "Machines: what they run and whether they may", []string{"nodes"}, command.Lists(e, work.ListNodes, &cobra.Command{}, nodeListing),
		nodeShow(e), nodeSet(e), nodeWake(e),
		nodeMode(e, "drain", "Let a node finish what it runs and give it nothing new", weir.Draining),
		nodeMode(e, "pause", "Give a node nothing new", weir.Paused),
		nodeMode(e, "activate", "Let a node work again", weir.Active), nodeRevoke(e), nodeDelete(e))
}

func nodeRevoke(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Short: "Take a node's credential away: its calls fail at once",
		Long: `Take a node's credential away: every call of its agent over HTTPS fails from now
on, and what it runs goes to others when its leases end. To let the machine join
again: weir join create --node NAME --service SERVICE=N`,
	}
	return command.Told(e, account.RevokeNode, c, "Node %s has no credential any more.")
}

func nodeDelete(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Aliases: []string{"rm", "drop"}, Short: "Remove a node that is gone for good",
		Long: `Remove a node that is gone for good, with its credential and how it is woken. It is
refused while its agent lives. What it ran stays in the timeline.`,
	}
	return command.Told(e, work.DropNode, c, "Node %s is gone.")
}

var nodeListing = command.Listing[view.Node]{
	Name:  func(n view.Node) string { return n.Name },
	Empty: []string{"There are no nodes.", "Start an agent on a machine with: weir agent; or look at the demo: weir up --demo"},
	Columns: []command.Column[view.Node]{
		{Title: "NAME", Value: func(_ *command.Output, n view.Node) string { return n.Name }},
		{Title: "STATE", Value: func(_ *command.Output, n view.Node) string { return n.State }, Paint: command.StateColor},
		{Title: "WORKERS", Value: func(_ *command.Output, n view.Node) string { return fmt.Sprint(n.Workers) }},
		{Title: "RUNNING", Value: func(_ *command.Output, n view.Node) string { return fmt.Sprint(n.Running) }},
		{Title: "CAPACITY", Value: func(_ *command.Output, n view.Node) string { return command.Labels(n.Capacity) }},
		{Title: "LABELS", Wide: true, Value: func(_ *command.Output, n view.Node) string { return command.Labels(n.Labels) }},
		{Title: "DRIVERS", Wide: true, Value: func(_ *command.Output, n view.Node) string { return strings.Join(n.Drivers, ",") }},
		{Title: "VERSION", Wide: true, Value: func(_ *command.Output, n view.Node) string { return n.Version }},
		{Title: "WAKE", Wide: true, Value: func(_ *command.Output, n view.Node) string { return n.WakeMethod }},
		{Title: "SEEN", Ages: true, Value: func(o *command.Output, n view.Node) string { return o.Ago(n.SeenAt) }},
		{Title: "NOTE", Value: nodeNote},
	},
}

// nodeNote is the one thing to know about a node where it stands: a dead one may
// only be asleep, a live one may claim nothing of a service because something is broken.
func nodeNote(o *command.Output, n view.Node) string {
	sleeps := n.WakeMethod != "" && (n.WakeState == "asleep" || n.WakeState == "waking")
	switch {
	case sleeps && n.WakeNote != "":
		return n.WakeState + " since " + o.Ago(n.WakeAt) + ": " + n.WakeNote
	case sleeps:
		return n.WakeState + " since " + o.Ago(n.WakeAt)
	case len(n.Faults) == 0:
		return n.Note
	}
	var broken []string
	for _, f := range n.Faults {
		broken = append(broken, f.Service+" ("+faultWord(f)+")")
	}
	text := "broken: " + strings.Join(broken, ", ")
	if n.Note != "" {
		text += "; " + n.Note
	}
	return text
}

// faultWord is the kind of a fault in words.
func faultWord(f view.NodeFault) string { return strings.ReplaceAll(f.Fault, "_", " ") }

// wakeText says how a node is woken and whether it sleeps.
func wakeText(o *command.Output, n view.Node) string {
	if n.WakeMethod == "" {
		return ""
	}
	text := n.WakeMethod + ", " + n.WakeState
	if !n.WakeAt.IsZero() {
		text += " since " + o.Both(n.WakeAt)
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

func nodeShow(e *command.Env) *cobra.Command {
	c := &cobra.Command{Short: "Show a node and its workers"}
	return command.Operation(e, work.ShowNode, c, func(ctx context.Context, s *app.Session, _ *work.NamedNode, node view.Node) error {
		found, err := work.ListWorkers.Call(ctx, s.Operations, &work.ListingWorkers{Paged: op.Paged{Limit: 1000}, Node: node.Name})
		if err != nil {
			return err
		}
		o, page := e.Output(), nodePage{node, found.Items}
		return o.Show(node.Name, page, func() error { return printNode(o, page) })
	})
}

func printNode(o *command.Output, n nodePage) error {
	fields := []command.Field{
		{"Node", n.Name},
		{"State", n.State},
		{"Until", o.Both(n.ModeUntil)},
		{"Note", n.Note},
		{"Running", fmt.Sprint(n.Running)},
		{"Capacity", command.Labels(n.Capacity)},
		{"Labels", command.Labels(n.Labels)},
		{"Drivers", strings.Join(n.Drivers, ", ")},
		{"Isolation", n.Isolation},
		{"Version", n.Version},
		{"Wake", wakeText(o, n.Node)},
		{"Sleeps after", command.Interval(n.SleepAfter)},
		{"Seen", o.Both(n.SeenAt)},
		{"Registered", o.Both(n.RegisteredAt)},
	}
	for _, f := range n.Faults {
		text := fmt.Sprintf("%s: %s: %s, since %s", f.Service, faultWord(f), f.Message, o.Both(f.Since))
		if !f.RetryAt.IsZero() {
			text += ", next try " + o.Both(f.RetryAt)
		}
		fields = append(fields, command.Field{"Broken", text})
	}
	if err := o.Details(fields); err != nil {
		return err
	}
	return workerListing.Below(o, "", n.List)
}

func nodeMode(e *command.Env, verb, short string, mode weir.Mode) *cobra.Command {
	var reason, until string
	c := &cobra.Command{
		Use: verb + " NAME", Short: short, Args: e.Args("NAME"),
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			o := e.Output()
			in := work.SettingMode{NamedNode: work.NamedNode{Node: args[0]}, Body: work.ModeBody{Mode: string(mode), Reason: reason}}
			if until != "" {
				end, err := command.ReadTime(until, o.Now)
				if err != nil {
					return command.Invalid("", "--until: %s", err)
				}
				if !end.After(o.Now) {
					return command.Invalid("give a time to come, or a duration such as 10m", "--until: %s is past", command.Exact(end))
				}
				in.Body.Until = end
			}
			if _, err := work.SetMode.Call(ctx, s.Operations, &in); err != nil {
				return err
			}
			return o.Did(args[0], struct {
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

// NodeNames are those of nodes.
var NodeNames = command.Listed(work.ListNodes, func(n view.Node) (string, string) { return n.Name, n.State })
