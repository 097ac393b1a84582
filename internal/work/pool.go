package work

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// NamedPool names a pool.
type NamedPool struct {
	Pool string `path:"pool" flag:"NAME" maxLength:"200"`
}

// PoolSpec is the definition of a pool.
type PoolSpec struct {
	Size *int      `json:"size,omitempty" minimum:"0" maximum:"2147483647" doc:"How many tasks may be available or running; 0 stops the pool."`
	Rate *int      `json:"rate,omitempty" minimum:"1" maximum:"2147483647" doc:"How many may start within per."`
	Per  op.Period `json:"per,omitzero"`
	Note string    `json:"note,omitempty" maxLength:"1000"`
}

// PuttingPool creates a pool or changes it.
type PuttingPool struct {
	NamedPool
	op.Matched
	Body PoolSpec
}

// DroppingPool deletes a pool.
type DroppingPool struct {
	NamedPool
	op.Matched
	Force bool `query:"force" doc:"Also while tasks use it: they go on as if they had none."`
}

// NotingPool changes the note of a pool.
type NotingPool struct {
	NamedPool
	Body struct {
		Note string `json:"note" flag:"TEXT" maxLength:"1000" doc:"What the pool is for; empty: nothing is noted."`
	}
}

// Pool is a pool and its version.
type Pool struct {
	view.Pool
	made bool
}

// Tag implements [op.Defined].
func (p Pool) Tag() string { return op.Tag(p.Size, p.Rate, p.Seconds, p.Note) }

// New implements [op.Defined].
func (p Pool) New() bool { return p.made }

// Operations on pools.
var (
	ListPools = op.List(on("pool", http.MethodGet, "list", "/pools", auth.Read, "List pools"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *op.Paged) ([]Pool, error) {
			return each(func(p view.Pool) Pool { return Pool{Pool: p} })(s.View.Pools(ctx, in.Page()))
		},
		func(p Pool) string { return p.Name })
	ShowPool = op.New(on("pool", http.MethodGet, "show", "/pools/{pool}", auth.Read, "Show a pool"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedPool) (Pool, error) {
			p, err := s.View.Pool(ctx, in.Pool)
			return Pool{Pool: p}, err
		})
	PutPool = op.New(on("pool", http.MethodPut, "set", "/pools/{pool}", auth.Manage, "Create or change a pool"),
		func(ctx context.Context, s *Store, who auth.Subject, in *PuttingPool) (p Pool, err error) {
			return p, s.inTurn(ctx, func() error {
				p, err = s.putPool(ctx, who, in)
				return err
			})
		})
	NotePool = op.New(on("pool", http.MethodPost, "note", "/pools/{pool}/note", auth.Manage, "Change the note of a pool"),
		func(ctx context.Context, s *Store, who auth.Subject, in *NotingPool) (op.Nothing, error) {
			return op.Nothing{}, s.Client.NotePool(ctx, in.Pool, in.Body.Note, who.By())
		})
	DropPool = op.New(on("pool", http.MethodDelete, "delete", "/pools/{pool}", auth.Manage, "Delete a pool"),
		func(ctx context.Context, s *Store, who auth.Subject, in *DroppingPool) (op.Nothing, error) {
			return op.Nothing{}, s.inTurn(ctx, func() error { return s.dropPool(ctx, who, in) })
		})
)

func (s *Store) putPool(ctx context.Context, who auth.Subject, in *PuttingPool) (p Pool, err error) {
	is, exists, err := lookup(s.View.Pool(ctx, in.Pool))
	if err != nil {
		return p, err
	}
	want := weir.Pool{Name: in.Pool, Size: in.Body.Size, Per: time.Duration(in.Body.Per), Note: in.Body.Note, By: who.By()}
	if in.Body.Rate != nil {
		want.Rate = *in.Body.Rate
	}
	tag, same := "", false
	if exists {
		// A note that is left out stays as it is.
		next := Pool{Pool: is}
		next.Size, next.Rate, next.Seconds = in.Body.Size, in.Body.Rate, want.Per.Seconds()
		if want.Note != "" {
			next.Note = want.Note
		}
		tag = Pool{Pool: is}.Tag()
		same = tag == next.Tag()
	}
	if err := in.Judge("pool", tag, same); err != nil {
		return p, err
	}
	if !same {
		if in.Exact() {
			want.Seen = is.ResizedAt // another server may change it, too
		}
		if err := in.Late(s.Client.SetPool(ctx, want)); err != nil {
			return p, err
		}
	}
	p.made = !exists
	p.Pool, err = s.View.Pool(ctx, in.Pool)
	return p, err
}

func (s *Store) dropPool(ctx context.Context, who auth.Subject, in *DroppingPool) error {
	if in.IfMatch != "" {
		is, err := s.View.Pool(ctx, in.Pool)
		if err != nil {
			return err
		}
		if err := in.JudgeDrop("pool", Pool{Pool: is}.Tag()); err != nil {
			return err
		}
	}
	err := s.Client.DropPool(ctx, in.Pool, in.Force, who.By())
	if err == nil || in.Force {
		return err
	}
	told := *problem.Explain(err)
	if told.Err = err; told.Kind == problem.Conflict {
		told.Next = "let them end, or force it: then nothing bounds them, and those that wait may all start at once"
	}
	return &told
}
