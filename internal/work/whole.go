package work

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// longestRates is how far back rates can be requested.
const longestRates = 7 * 24 * time.Hour

// ListingRates sets how far back to read.
type ListingRates struct {
	Since string `query:"since" default:"1h" maxLength:"20" doc:"How far back: a duration such as 1h, at most 7d."`
}

// Searching is the text that a person types.
type Searching struct {
	Text string `query:"q" required:"true" minLength:"1" maxLength:"200" doc:"An id or its end, a name or its beginning, a service, a key."`
}

// Examining sets how deep the check is.
type Examining struct {
	Deep bool `query:"deep" doc:"Read all of the history instead of its newest part. Takes an admin."`
}

// DoctorReport is the report of the doctor. All callers of a server within half a minute get
// the same one.
type DoctorReport struct {
	Items []view.Finding `json:"items"`
	At    time.Time      `json:"at" doc:"When it was made."`
	Age   float64        `json:"age" doc:"How many seconds ago that is."`
}

// Operations on the whole installation.
var (
	ShowOverview = op.New(on("task", http.MethodGet, "overview", "/overview", auth.Read,
		"Show what runs, what waits and at which gate, what failed"),
		func(ctx context.Context, s *Store, who auth.Subject, _ *struct{}) (view.Overview, error) {
			o, err := s.View.Overview(ctx)
			if !sees(who, "job") {
				o.Jobs = []view.Job{}
			}
			return o, err
		})
	ListRates = op.New(on("task", http.MethodGet, "rates", "/rates", auth.Read, "List what happened, minute by minute"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *ListingRates) (op.Page[view.Rate], error) {
			since, err := op.ParsePeriod(cmp.Or(in.Since, "1h"))
			if err != nil || since > longestRates || since < time.Minute {
				return op.Page[view.Rate]{}, problem.Refuse("since", "for example 1h", "expected a duration from 1m to 7d")
			}
			return whole(s.View.Rates(ctx, since))
		})
	Search = op.New(on("task", http.MethodGet, "search", "/search", auth.Read, "Find things by what a person types"),
		func(ctx context.Context, s *Store, who auth.Subject, in *Searching) (op.Page[view.Hit], error) {
			hits, err := s.View.Search(ctx, in.Text)
			return op.PageOf(slices.DeleteFunc(hits, func(h view.Hit) bool { return !sees(who, h.Kind) }), ""), err
		})
	ShowHealth = op.New(on("health", http.MethodGet, "show", "/health", auth.Read, "Show how the database is"),
		func(ctx context.Context, s *Store, _ auth.Subject, _ *struct{}) (view.Health, error) {
			return s.View.Health(ctx)
		})
	Doctor = op.New(on("health", http.MethodGet, "doctor", "/doctor", auth.Read, "Check every invariant"), examine)
)

// examine makes a new report for a command on the database, which shares it with no other
// caller and ends when it is interrupted.
func examine(ctx context.Context, s *Store, who auth.Subject, in *Examining) (DoctorReport, error) {
	if in.Deep {
		if err := auth.Allow(who, auth.Administer, auth.Object{Kind: "health"}); err != nil {
			return DoctorReport{}, err
		}
	}
	if who.Kind == auth.KindSystem {
		at := time.Now()
		findings, err := s.View.Doctor(ctx, in.Deep)
		return DoctorReport{Items: findings, At: at}, problem.OwnerOnly(err)
	}
	r, err := s.View.Checkup(ctx, in.Deep)
	return DoctorReport{r.Findings, r.At, r.Age.Seconds()}, err
}

// sees reports whether a subject may read objects of a kind. A token may have the scope of one
// kind alone.
func sees(who auth.Subject, kind string) bool {
	if kind == "service" {
		kind = "task"
	}
	return auth.Can(who, auth.Read, auth.Object{Kind: kind})
}
