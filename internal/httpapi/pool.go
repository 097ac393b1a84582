package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
)

// PoolInput names a pool.
type PoolInput struct {
	Pool string `path:"pool" maxLength:"200"`
}

func (a *API) listPools(ctx context.Context, in *op.Paged) (*Listed[view.Pool], error) {
	pools, err := a.config.Store.Pools(ctx, in.Page())
	if err != nil {
		return nil, err
	}
	return listed(ctx, pools, in.Limit, func(p view.Pool) string { return p.Name }), nil
}

// PoolSpec is a pool as somebody defines it.
type PoolSpec struct {
	Size *int   `json:"size,omitempty" minimum:"0" maximum:"2147483647" doc:"How many tasks may be available or running; 0 stops the pool."`
	Rate *int   `json:"rate,omitempty" minimum:"1" maximum:"2147483647" doc:"How many may start within per."`
	Per  Period `json:"per,omitzero"`
	Note string `json:"note,omitempty" maxLength:"1000"`
}

// poolTag is the version of a pool.
func poolTag(p view.Pool) string {
	return op.Tag(p.Size, p.Rate, p.Seconds, p.Note)
}

func (a *API) showPool(ctx context.Context, in *PoolInput) (*Defined[view.Pool], error) {
	p, err := a.config.Store.Pool(ctx, in.Pool)
	if err != nil {
		return nil, err
	}
	return &Defined[view.Pool]{Status: http.StatusOK, ETag: poolTag(p), Body: p}, nil
}

// PutPoolInput creates a pool or changes it.
type PutPoolInput struct {
	PoolInput
	op.Matched
	Body PoolSpec
}

func (a *API) putPool(ctx context.Context, in *PutPoolInput) (out *Defined[view.Pool], err error) {
	want := weir.Pool{Name: in.Pool, Size: in.Body.Size, Per: time.Duration(in.Body.Per), Note: in.Body.Note}
	if in.Body.Rate != nil {
		want.Rate = *in.Body.Rate
	}
	err = a.inTurn(ctx, func() error {
		is, exists, err := lookup(a.config.Store.Pool(ctx, in.Pool))
		if err != nil {
			return err
		}
		status, tag, same := http.StatusCreated, "", false
		if exists {
			// A note that is left out stays as it is.
			next := is
			next.Size, next.Rate, next.Seconds = in.Body.Size, in.Body.Rate, want.Per.Seconds()
			if want.Note != "" {
				next.Note = want.Note
			}
			status, tag = http.StatusOK, poolTag(is)
			same = tag == poolTag(next)
		}
		if err := in.Judge("pool", tag, same); err != nil {
			return err
		}
		if !same {
			want.By = auth.From(ctx).By()
			if in.Exact() {
				want.Seen = is.ResizedAt // another server may be at it, too
			}
			if err := in.Late(a.config.Commands.SetPool(ctx, want)); err != nil {
				return err
			}
		}
		if out, err = a.showPool(ctx, &in.PoolInput); err != nil {
			return err
		}
		out.Status = status
		return nil
	})
	return out, err
}

// DropPoolInput deletes a pool.
type DropPoolInput struct {
	PoolInput
	op.Matched
	Force bool `query:"force" doc:"Also while tasks use it: they go on as if they had none."`
}

func (a *API) dropPool(ctx context.Context, in *DropPoolInput) (*Empty, error) {
	return nil, a.inTurn(ctx, func() error {
		if in.IfMatch != "" {
			is, err := a.config.Store.Pool(ctx, in.Pool)
			if err != nil {
				return err
			}
			if err := in.JudgeDrop("pool", poolTag(is)); err != nil {
				return err
			}
		}
		return a.config.Commands.DropPool(ctx, in.Pool, in.Force, auth.From(ctx).By())
	})
}
