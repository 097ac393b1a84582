package httpapi

import (
	"context"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// VersionOutput says what answers.
type VersionOutput struct {
	Version string `json:"version" doc:"Of the program."`
	API     string `json:"api" doc:"Of this interface."`
}

func (a *API) version(context.Context, *struct{}) (*One[VersionOutput], error) {
	return one(VersionOutput{a.config.Version, "v1"}, nil)
}

// sees says whether the subject may read things of a kind. A token may have the
// scope of one kind alone.
func sees(ctx context.Context, kind string) bool {
	if kind == "service" {
		kind = "task"
	}
	return auth.Can(auth.From(ctx), auth.Read, auth.Object{Kind: kind})
}

func (a *API) overview(ctx context.Context, _ *struct{}) (*One[view.Overview], error) {
	o, err := a.config.Store.Overview(ctx)
	if !sees(ctx, "job") {
		o.Jobs = []view.Job{}
	}
	return one(o, err)
}

// longestRates is how far back rates are asked for.
const longestRates = 7 * 24 * time.Hour

// RatesInput says how far back.
type RatesInput struct {
	Since string `query:"since" default:"1h" maxLength:"20" doc:"How far back: a duration such as 1h, at most 7d."`
}

func (a *API) rates(ctx context.Context, in *RatesInput) (*All[view.Rate], error) {
	since, err := op.ParsePeriod(in.Since)
	if err != nil || since > longestRates || since < time.Minute {
		return nil, problem.Refuse("since", "for example 1h", "expected a duration from 1m to 7d")
	}
	rates, err := a.config.Store.Rates(ctx, since)
	if err != nil {
		return nil, err
	}
	return all(rates), nil
}

// SearchInput is what a person types.
type SearchInput struct {
	Text string `query:"q" required:"true" minLength:"1" maxLength:"200" doc:"An id or its end, a name or its beginning, a service, a key."`
}

func (a *API) search(ctx context.Context, in *SearchInput) (*All[view.Hit], error) {
	hits, err := a.config.Store.Search(ctx, in.Text)
	if err != nil {
		return nil, err
	}
	return all(slices.DeleteFunc(hits, func(h view.Hit) bool { return !sees(ctx, h.Kind) })), nil
}

func (a *API) health(ctx context.Context, _ *struct{}) (*One[view.Health], error) {
	return one(a.config.Store.Health(ctx))
}

// DoctorInput says how deep.
type DoctorInput struct {
	Deep bool `query:"deep" doc:"Read all of the history instead of its newest part. Takes an admin."`
}

// DoctorReport is what the doctor found. All who ask within half a minute get the same one.
type DoctorReport struct {
	Items []view.Finding `json:"items"`
	At    time.Time      `json:"at" doc:"When it was made."`
	Age   float64        `json:"age" doc:"How many seconds ago that is."`
}

func (a *API) doctor(ctx context.Context, in *DoctorInput) (*One[DoctorReport], error) {
	if in.Deep {
		if err := auth.Allow(auth.From(ctx), auth.Administer, auth.Object{Kind: "health"}); err != nil {
			return nil, err
		}
	}
	r, err := a.config.Store.Checkup(ctx, in.Deep)
	if err != nil {
		return nil, err
	}
	return one(DoctorReport{r.Findings, r.At, r.Age.Seconds()}, nil)
}
