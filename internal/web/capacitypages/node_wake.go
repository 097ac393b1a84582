package capacitypages

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/node/wake"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/work"
)

func nodeCalled(r *site.Request, _ op.Nothing) site.Done {
	name := r.PathValue("node")
	return site.Done{To: site.NodePath(name), Say: ui.Say(r.Context(), "said.node.called", name)}
}

// wakeMethods are the ways to wake a node, for people.
func wakeMethods(ctx context.Context) []ui.Option {
	not := ui.Option{Label: ui.Say(ctx, "wake.not")}
	return append([]ui.Option{not}, ui.Codes(ctx, "wake.", wake.WOL, wake.HTTP, wake.Script)...)
}

func (w *pages) askWaking(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	was, err := w.waking(r)
	if err != nil {
		return ui.Question{}, err
	}
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.node.waking", ui.Cut(ui.Line(n.Name), 80)), Button: ui.Say(ctx, "waking.set"),
			Text: ui.Say(ctx, "waking.text"),
			Fields: []ui.Field{
				{Name: "method", Label: ui.Say(ctx, "word.way"), Type: "select", Options: wakeMethods(ctx), Value: n.WakeMethod, Optional: true, Focus: true},
				{Name: "mac", Label: ui.Say(ctx, "word.macaddress"), Optional: true, Value: was.MAC, Example: "52:54:00:12:34:56", Hint: ui.Say(ctx, "waking.mac"), Auto: "off"},
				{Name: "broadcast", Label: ui.Say(ctx, "word.broadcast"), Optional: true, Value: was.Broadcast, Example: "192.168.1.255:9", Hint: ui.Say(ctx, "waking.broadcast"), Auto: "off"},
				{Name: "url", Label: ui.Say(ctx, "word.address"), Optional: true, Value: hidden(was.URL), Example: "https://power.example.org/on", Hint: ui.Say(ctx, "waking.url"), Auto: "off"},
				{Name: "script", Label: ui.Say(ctx, "word.script"), Optional: true, Value: was.Script, Example: "power-on", Hint: ui.Say(ctx, "waking.script"), Auto: "off"},
				{Name: "args", Label: ui.Say(ctx, "word.arguments"), Optional: true, Value: strings.Join(was.Args, " "), Hint: ui.Say(ctx, "waking.args"), Auto: "off"},
				{Name: "timeout", Label: ui.Say(ctx, "word.timetowakeup"), Optional: true, Value: secondsText(was.Timeout), Example: "2m", Hint: ui.Say(ctx, "waking.timeout"), Auto: "off"},
				{Name: "sleep_after", Label: ui.Say(ctx, "word.sleepafter"), Optional: true, Value: n.SleepAfter, Example: "30m", Hint: ui.Say(ctx, "waking.sleep"), Auto: "off"},
			},
		}
	})
}

// waking is how the node of the path is woken now.
func (w *pages) waking(r *site.Request) (m wake.Method, err error) {
	params, err := w.Store.Waking(r.Context(), r.PathValue("node"))
	if err != nil || len(params) == 0 {
		return m, err
	}
	// What an older Weir wrote may not be read any more: then the form is empty.
	_ = json.Unmarshal(params, &m)
	return m, nil
}

// hidden is an address without what stands behind the question mark: often that
// is a password, and a form is seen by more people than the one who wrote it.
func hidden(address string) string {
	if before, _, found := strings.Cut(address, "?"); found {
		return before + "?***"
	}
	return address
}

// secondsText is a duration as the form takes it; empty for none.
func secondsText(s wake.Seconds) string {
	if s == 0 {
		return ""
	}
	return site.SpanText(time.Duration(s))
}

func (w *pages) setWaking(r *site.Request) (site.Done, error) {
	was, err := w.waking(r)
	if err != nil {
		return site.Done{}, err
	}
	in := work.SettingWake{NamedNode: work.NamedNode{Node: r.PathValue("node")}, Body: work.WakeMethod{Method: cmp.Or(r.Field("method"), "none")}}
	m := &in.Body
	switch m.Method {
	case wake.WOL:
		// The form has no field for the interface: it stays with its address.
		m.MAC, m.Broadcast, m.Interface = r.Field("mac"), r.Field("broadcast"), was.Interface
	case wake.HTTP:
		if m.URL = r.Field("url"); m.URL == hidden(was.URL) {
			m.URL = was.URL
		}
	case wake.Script:
		m.Script, m.Args = r.Field("script"), strings.Fields(r.Field("args"))
	}
	for field, into := range map[string]*op.Period{"timeout": &m.Timeout, "sleep_after": &m.SleepAfter} {
		d, err := site.SpanField(r, field)
		if err != nil {
			return site.Done{}, err
		}
		*into = op.Period(d)
	}
	if _, err := work.SetWake.Call(r.Context(), w.Operations, &in); err != nil {
		return site.Done{}, problem.Below(err, "params") // the engine calls it params.mac
	}
	return site.Done{To: site.NodePath(in.Node), Say: ui.Say(r.Context(), "said.node.waking", in.Node)}, nil
}

func (w *pages) askChangeNode(r *site.Request) (ui.Question, error) {
	ctx := r.Context()
	return w.askNode(r, func(n view.Node) ui.Question {
		return ui.Question{
			Title: ui.Say(ctx, "ask.change", ui.Cut(ui.Line(n.Name), 80)), Button: ui.Say(ctx, "node.change"),
			Text: ui.Say(ctx, "node.change.text"),
			Fields: []ui.Field{
				{Name: "labels", Label: ui.Say(ctx, "word.labels"), Type: "area", Optional: true, Value: pairLines(n.Labels), Hint: ui.Say(ctx, "node.labels.hint"), Focus: true, Auto: "off"},
				{Name: "capacity", Label: ui.Say(ctx, "word.slots"), Type: "area", Optional: true, Value: capacityLines(n.Capacity), Hint: ui.Say(ctx, "node.capacity.hint"), Auto: "off"},
			},
		}
	})
}

func pairLines(m map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b.WriteString(k + "=" + m[k] + "\n")
	}
	return b.String()
}

func capacityLines(m map[string]int) string {
	words := make(map[string]string, len(m))
	for k, n := range m {
		words[k] = strconv.Itoa(n)
	}
	return pairLines(words)
}

func (w *pages) changeNode(r *site.Request) (_ site.Done, err error) {
	in := work.SettingNode{NamedNode: work.NamedNode{Node: r.PathValue("node")}}
	if in.Body.Labels, err = site.ReadPairs(r, "labels"); err != nil {
		return site.Done{}, err
	}
	if in.Body.Capacity, err = site.ReadCapacity(r, "capacity"); err != nil {
		return site.Done{}, err
	}
	if _, err := work.SetNode.Call(r.Context(), w.Operations, &in); err != nil {
		return site.Done{}, err
	}
	return site.Done{To: site.NodePath(in.Node), Say: ui.Say(r.Context(), "said.node.changed", in.Node)}, nil
}
