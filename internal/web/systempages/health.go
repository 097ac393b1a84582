package systempages

import (
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// healthView is what the health page shows.
type healthView struct {
	server   site.Health
	database view.Health
}

func (w *pages) health(r *site.Request) (site.View, error) {
	ctx := r.Context()
	var v healthView
	var err error
	if w.Health != nil {
		v.server = w.Health(r.Context())
	}
	if v.database, err = w.Store.Health(r.Context()); err != nil {
		return site.View{}, err
	}
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.health"), Actions: ui.ButtonLink(ui.Say(ctx, "word.runthedoctor"), "health",
			"/health/doctor", false)},
		Body: healthPage(v),
	}, nil
}

// doctor runs when somebody opens the page, once in a while for all of them, and not again by
// itself.
func (w *pages) doctor(r *site.Request) (site.View, error) {
	ctx := r.Context()
	deep := r.Query("deep") != ""
	if deep {
		if err := r.Allow(auth.Administer, "health", false); err != nil {
			return site.View{}, err
		}
	}
	report, err := w.Store.Checkup(r.Context(), deep)
	if err != nil {
		return site.View{}, err
	}
	findings := report.Findings
	bad := 0
	for _, f := range findings {
		if !f.OK {
			bad++
		}
	}
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.doctor"), Crumbs: []ui.Crumb{{Label: ui.Say(ctx, "word.health"), Href: "/health"}}, Actions: doctorActions(deep || !r.Can(auth.Administer, "health")), Sub: ui.Time(report.At)},
		Body: doctorPage(findings, bad), Still: true,
	}, nil
}

// deadShare is how much of a table is dead, in percent.
func deadShare(t view.TableHealth) float64 {
	if t.Live+t.Dead == 0 {
		return 0
	}
	return 100 * float64(t.Dead) / float64(t.Live+t.Dead)
}

const (
	// deadMany and deadMuch together make a table worth a look: a small one
	// that changes all the time is always half dead.
	deadMany = 10_000
	deadMuch = 30
	// xminOld is how many transactions a snapshot may be old before it hurts.
	xminOld = 1_000_000
)

func bloated(t view.TableHealth) bool { return t.Dead > deadMany && deadShare(t) > deadMuch }
