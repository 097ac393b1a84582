package op

import (
	"context"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

// Operation is the description of an operation that every face uses, whatever its input
// and output.
type Operation struct {
	// Noun and Verb name it: rollout pause.
	Noun, Verb string
	// Method and Path are its route below the prefix of the API. Each {name} of the path
	// is a field of the input.
	Method, Path string
	// Right is required for an object of the kind of the noun.
	Right auth.Verb
	// Own means that the right is checked for an object of the caller's own. The
	// operation checks again when it knows the real owner.
	Own bool
	// Summary describes in one line what it does.
	Summary string
	// Large means that its input may be as large as the files of a whole plan.
	Large bool
	// Once means that a client must not retry it by itself, because it would be done
	// again.
	Once bool
}

// Any is an operation of any input and output type.
type Any interface {
	// Describe returns the description.
	Describe() *Operation
	// do carries it out on the store that it belongs to.
	do(ctx context.Context, stores []any, who auth.Subject, in, out any) error
}

// Op is an operation on a store, with its input and output.
type Op[Store, In, Out any] struct {
	Operation
	Do func(ctx context.Context, store Store, who auth.Subject, in *In) (Out, error)
}

// New describes an operation.
func New[Store, In, Out any](o Operation, do func(ctx context.Context, store Store, who auth.Subject, in *In) (Out, error)) *Op[Store, In, Out] {
	return &Op[Store, In, Out]{o, do}
}

// Describe returns the description.
func (o *Op[Store, In, Out]) Describe() *Operation { return &o.Operation }

// Call lets a caller carry it out.
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
	// Call takes in, a pointer to the input of o, and writes the result to out.
	Call(ctx context.Context, o Any, in, out any) error
}

// Local carries operations out on the stores of this process.
type Local struct {
	// Stores are the stores of the domains, in any order.
	Stores []any
	// Who returns the subject. If nil, it is the subject of the context.
	Who func(context.Context) auth.Subject
}

// Call checks the right, and carries the operation out.
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

// Nothing is the result of an operation without one.
type Nothing struct{}
