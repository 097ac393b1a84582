package systempages

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/picture"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// lately is how much of the past the overview tells.
const lately = time.Hour

// pictureWidth is that of half a page, and not far from that of a phone.
const pictureWidth = 440

// overviewView is what the overview shows.
type overviewView struct {
	view.Overview
	rates  []view.Rate
	server site.Health
	// command says that the reader may act on tasks.
	command bool
	// fresh says that nothing was ever submitted.
	fresh bool
}

func (w *pages) overview(r *site.Request) (site.View, error) {
	ctx := r.Context()
	v := overviewView{command: r.Can(auth.Command, "task")}
	var err error
	if v.Overview, err = w.Store.Overview(ctx); err != nil {
		return site.View{}, err
	}
	if v.rates, err = w.Store.Rates(ctx, lately); err != nil {
		return site.View{}, err
	}
	if w.Health != nil {
		v.server = w.Health(ctx)
	}
	if v.fresh, err = w.untouched(ctx, v.Overview); err != nil {
		return site.View{}, err
	}
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.overview"), Actions: site.SubmitButton(r)}, Body: overviewPage(v),
		Follow: &timeline.Filter{Kinds: []string{"task", "job", "node", "worker", "pool"}},
	}, nil
}

// untouched says that there is no task and never was one that is still known.
func (w *pages) untouched(ctx context.Context, o view.Overview) (bool, error) {
	if len(o.Jobs)+len(o.Running)+len(o.FailedLately)+len(o.Waiting) > 0 || o.Counts.Available.N > 0 {
		return false, nil
	}
	tasks, _, err := w.Store.TaskPage(ctx, view.TaskFilter{}, view.Page{Limit: 1})
	return err == nil && len(tasks) == 0, err
}

// waiting is how many tasks stand at a gate.
func (v overviewView) waiting() view.Count {
	var all view.Count
	for _, c := range v.Counts.Pending {
		all.N += c.N
		all.More = all.More || c.More
	}
	return all
}

// ended are how many tasks ended well and how many failed, lately.
func (v overviewView) ended() (done, failed int) {
	for _, m := range v.rates {
		done, failed = done+int(m.Done), failed+int(m.Failed)
	}
	return done, failed
}

// unwell are the checks of this server that do not hold.
func (v overviewView) unwell() []site.Check {
	return slices.DeleteFunc(slices.Clone(v.server.Checks), func(c site.Check) bool { return c.OK })
}

// counted is a count that may be larger than it says.
func counted(c view.Count) string {
	if c.More {
		return ui.Number(c.N) + "+"
	}
	return ui.Number(c.N)
}

// minutes are the rates without holes: a minute in which nothing happened is
// left out by the store, and is a zero after the first one that is known.
func minutes(rates []view.Rate, now time.Time) []view.Rate {
	if len(rates) == 0 {
		return nil
	}
	known := make(map[time.Time]view.Rate, len(rates))
	for _, m := range rates {
		known[m.At.UTC().Truncate(time.Minute)] = m
	}
	var out []view.Rate
	// The minute that goes on is not yet counted.
	for at := rates[0].At.UTC().Truncate(time.Minute); !at.After(now.Add(-time.Minute)); at = at.Add(time.Minute) {
		m := known[at]
		m.At = at
		out = append(out, m)
	}
	return out
}

// hour is the axis of the charts. It moves once a minute.
func hour(now time.Time) (from, to time.Time) {
	to = now.UTC().Truncate(time.Minute)
	return to.Add(-lately), to
}

func flow(ctx context.Context, v overviewView, now time.Time) picture.Flow {
	out := picture.Flow{Title: ui.Say(ctx, "word.tasksthatendedbyminute"), Width: pictureWidth}
	out.From, out.To = hour(now)
	for _, m := range minutes(v.rates, now) {
		out.Points = append(out.Points, picture.FlowPoint{At: m.At, Done: int(m.Done), Failed: int(m.Failed)})
	}
	return out
}

func delays(ctx context.Context, v overviewView, now time.Time) picture.Delays {
	out := picture.Delays{Title: ui.Say(ctx, "word.howlongtaskswaitedforaworker"), Width: pictureWidth}
	out.From, out.To = hour(now)
	for _, m := range v.rates {
		if m.WaitP50 != nil && m.WaitP95 != nil {
			out.Points = append(out.Points, picture.DelayPoint{At: m.At, P50: *m.WaitP50, P95: *m.WaitP95})
		}
	}
	return out
}

// gates is what waits where. Ages are rough, so that the picture stays the same
// while nothing happens.
func gates(ctx context.Context, v overviewView, now time.Time) picture.Waiting {
	out := picture.Waiting{Title: ui.Say(ctx, "word.whatwaitsatwhichgate"), Width: pictureWidth}
	for _, g := range v.Waiting {
		out.Rows = append(out.Rows, picture.WaitRow{
			Gate: string(g.Gate), Key: g.Key, Count: g.Count.N, More: g.Count.More, Oldest: rough(now.Sub(g.Oldest)), Href: gatePath(g),
		})
	}
	return out
}

// rough leaves out what is small beside the rest.
func rough(d time.Duration) time.Duration {
	switch {
	case d > time.Hour:
		return d.Truncate(time.Minute)
	case d > time.Minute:
		return d.Truncate(10 * time.Second)
	}
	return max(d.Truncate(time.Second), time.Second)
}

// gatePath is the list of the tasks of a group.
func gatePath(g view.GateGroup) string {
	q := url.Values{"gate": {string(g.Gate)}}
	if g.Key != "" {
		q.Set(string(g.Gate), g.Key)
	}
	return "/tasks?" + q.Encode()
}
