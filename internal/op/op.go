package op

import (
	"context"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

// Operation is what every face knows of an operation, whatever goes in and comes out.
type Operation struct {
	// Noun and Verb name it: rollout pause.
	Noun, Verb string
	// Method and Path are its route below the prefix of the API. Each {name} of the path
	// is a field of the input.
	Method, Path string
	// Right is asked for on a thing of the kind of the noun.
	Right auth.Verb
	// Own: it is asked for on a thing of one's own. The operation asks again when it
	// knows whose thing it really is.
	Own bool
	// Summary says in one line what it does.
	Summary string
	// Large: its input may be as large as the files of a whole plan.
	Large bool
	// Once: it must not be sent again by itself, because it would be done again.
	Once bool
}

// Any is an operation whose types are not known.
type Any interface {
	// Describe is what faces know of it.
	Describe() *Operation
	// do does it on the one of the stores that it is for.
	do(ctx context.Context, stores []any, who auth.Subject, in, out any) error
}

// Op is an operation on a store, with what goes in and what comes out.
type Op[Store, In, Out any] struct {
	Operation
	Do func(ctx context.Context, store Store, who auth.Subject, in *In) (Out, error)
}

// New describes an operation.
func New[Store, In, Out any](o Operation, do func(ctx context.Context, store Store, who auth.Subject, in *In) (Out, error)) *Op[Store, In, Out] {
	return &Op[Store, In, Out]{o, do}
}

// Describe is what faces know of it.
func (o *Op[Store, In, Out]) Describe() *Operation { return &o.Operation }

// Call has somebody carry it out.
func (o *Op[Store, In, Out]) Call(ctx context.Context, c Caller, in *In) (out Out, err error) {
	err = c.Call(ctx, o, in, &out)
	return out, err
}

func (o *Op[Store, In, Out]) do(ctx context.Context, stores []any, who auth.Subject, in, out any) (err error) {
	for _, s := range stores {
		if store, ok := s.(Store); ok {
			*out.(*Out), err = o.Do(ctx, store, who, in.(*In))
			return err
		}
	}
	return problem.New(problem.NotFound, "ask the server that does", "this server keeps no %ss", o.Noun)
}

// Caller carries operations out: on the stores of this process, or on a server.
type Caller interface {
	// Call reads what in says, which is a pointer to the input of o, and writes what it
	// answers to out.
	Call(ctx context.Context, o Any, in, out any) error
}

// Local carries operations out on the stores of this process.
type Local struct {
	// Stores are those of the domains, in any order.
	Stores []any
	// Who asks. Nil: whoever the context says.
	Who func(context.Context) auth.Subject
}

// Call asks for the right, and does it.
func (l Local) Call(ctx context.Context, o Any, in, out any) error {
	who := auth.From(ctx)
	if l.Who != nil {
		who = l.Who(ctx)
	}
	d := o.Describe()
	object := auth.Object{Kind: d.Noun}
	if d.Own {
		object = who.Own(d.Noun)
	}
	if err := auth.Allow(who, d.Right, object); err != nil {
		return err
	}
	return o.do(ctx, l.Stores, who, in, out)
}

// Nothing is the answer of an operation that has nothing to say.
type Nothing struct{}
