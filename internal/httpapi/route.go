package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
)

// prefix is the path of the API. A breaking change would get another.
const prefix = "/api/v1"

// Access is the rule by which a route admits callers.
type Access int

// The accesses.
const (
	// Granted checks auth.Can with the route's verb and kind.
	Granted Access = iota
	// Own checks auth.Can for an object of the caller's own. The handler checks again
	// when it knows the real owner.
	Own
	// Known admits every caller that is identified.
	Known
	// Open admits every caller.
	Open
)

// Route is one line of the table.
type Route struct {
	Method, Path string
	// Verb and Kind are the arguments of auth.Can.
	Verb    auth.Verb
	Kind    string
	Access  Access
	Summary string

	how how
}

// how is the way in which a route is served.
type how struct {
	// mount registers the handler.
	mount func(a *API, route *Route)
	// limit is how many bytes a body may have; zero means bodyLimit.
	limit int64
	// created is set if a success creates something.
	created bool
	// stream leaves deadlines and buffering to the handler.
	stream bool
}

// creates marks a route that creates something: 201.
func creates(h how) how { h.created = true; return h }

// created marks the route of an operation that creates several things: 201.
func created(r Route) Route { r.how.created = true; return r }

// large lets a route take a large body.
func large(h how) how { h.limit = submitLimit; return h }

// streamed marks a route whose answer does not end by itself.
func streamed(h how) how { h.stream = true; return h }

// Routes returns all routes of the API, in the order of the reference.
func Routes() []Route { return slices.Clone(table) }

// Object returns the object for the check of the right before the handler runs.
func (r *Route) Object(s auth.Subject) auth.Object {
	if r.Access == Own {
		return s.Own(r.Kind)
	}
	return auth.Object{Kind: r.Kind}
}

// allow checks the right before the handler runs.
func (r *Route) allow(s auth.Subject) error {
	switch {
	case r.Access == Open:
		return nil
	case r.Access == Known && !s.Nobody():
		return nil
	}
	return auth.Allow(s, r.Verb, r.Object(s))
}

// pattern returns the pattern of the route for the mux.
func (r *Route) pattern() string { return r.Method + " " + prefix + r.Path }

// ID returns the name of the operation: the words of the path and the action.
func (r *Route) ID() string {
	words := []string{strings.ToLower(r.Method)}
	for _, part := range strings.Split(strings.Trim(r.Path, "/"), "/") {
		words = append(words, strings.NewReplacer(".", "-", "{", "", "}", "").Replace(part))
	}
	return strings.Join(words, "-")
}

// tag returns the group of the operation: the first word of the path.
func (r *Route) tag() string {
	word, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	word, _, _ = strings.Cut(word, ".")
	return word
}

// handle registers a typed handler with huma. Its error becomes a problem.
func handle[I, O any](f func(*API, context.Context, *I) (*O, error)) how {
	return how{mount: func(a *API, route *Route) {
		huma.Register(a.huma, route.operation(), func(ctx context.Context, in *I) (*O, error) {
			out, err := f(a, ctx, in)
			if err != nil {
				return nil, a.refusal(ctx, err)
			}
			return out, nil
		})
	}}
}

// described returns the route of an operation. The right is checked again where the
// operation is carried out; the check here keeps strangers from sending a body.
func described[S, In, Out any](o *op.Op[S, In, Out]) Route {
	answer := handle(func(a *API, ctx context.Context, in *In) (*One[Out], error) {
		return one(o.Call(ctx, a.config.Operations, in))
	})
	if _, silent := any(*new(Out)).(op.Nothing); silent {
		answer = handle(func(a *API, ctx context.Context, in *In) (*Empty, error) {
			_, err := o.Call(ctx, a.config.Operations, in)
			return nil, err
		})
	}
	return route(&o.Operation, answer)
}

// lists returns the route of a list.
func lists[S, In, Row any](o *op.Op[S, In, op.Page[Row]]) Route {
	return route(&o.Operation, handle(func(a *API, ctx context.Context, in *In) (*Listed[Row], error) {
		page, err := o.Call(ctx, a.config.Operations, in)
		if err != nil {
			return nil, err
		}
		param := "after"
		if p, ok := any(in).(op.Onward); ok {
			param = p.Onward()
		}
		return pageOf(ctx, page.Items, param, page.Next), nil
	}))
}

// makes returns the route of an operation that creates something: 201 with its address, or
// 200 if it existed already.
func makes[S, In any, Out op.Made](o *op.Op[S, In, Out]) Route {
	return route(&o.Operation, creates(handle(func(a *API, ctx context.Context, in *In) (*Made[Out], error) {
		out, err := o.Call(ctx, a.config.Operations, in)
		if err != nil {
			return nil, err
		}
		made := &Made[Out]{Status: http.StatusCreated, Location: location(out.Place()...), Body: out}
		if again, ok := any(out).(op.Again); ok && again.Found() {
			made.Status = http.StatusOK
		}
		return made, nil
	})))
}

// defines returns the route of an operation that reads or writes a definition: its
// version is the ETag.
func defines[S, In any, Out op.Defined](o *op.Op[S, In, Out]) Route {
	return route(&o.Operation, handle(func(a *API, ctx context.Context, in *In) (*Defined[Out], error) {
		out, err := o.Call(ctx, a.config.Operations, in)
		if err != nil {
			return nil, err
		}
		defined := &Defined[Out]{Status: http.StatusOK, ETag: out.Tag(), Body: out}
		if out.New() {
			defined.Status = http.StatusCreated
		}
		return defined, nil
	}))
}

func route(o *op.Operation, h how) Route {
	if o.Large {
		h = large(h)
	}
	access := Granted
	if o.Own {
		access = Own
	}
	return Route{o.Method, o.Path, o.Right, o.Noun, access, o.Summary, h}
}

// raw registers a handler that writes its own answer, and documents it.
func raw(kind string, f func(*API) http.Handler, params ...*huma.Param) how {
	return how{mount: func(a *API, route *Route) {
		op := route.operation()
		op.Parameters = params
		op.Responses = map[string]*huma.Response{"200": {
			Description: "OK", Content: map[string]*huma.MediaType{kind: {Schema: &huma.Schema{}}},
		}}
		a.huma.OpenAPI().AddOperation(&op)
		handler := f(a)
		a.mux.HandleFunc(route.pattern(), handler.ServeHTTP)
	}}
}

// operation describes the route to OpenAPI.
func (r *Route) operation() huma.Operation {
	op := huma.Operation{
		OperationID: r.ID(), Method: r.Method, Path: prefix + r.Path, Summary: r.Summary, Description: r.who(), Tags: []string{r.tag()},
		Security: []map[string][]string{{"token": {}}, {"session": {}}}, MaxBodyBytes: r.bodyLimit(),
		// The server sets a deadline for the whole request; see serve.go.
		BodyReadTimeout: -1,
	}
	if r.Access == Open {
		op.Security = []map[string][]string{}
	}
	if r.how.created {
		op.DefaultStatus = http.StatusCreated
	}
	return op
}

// who describes in words which callers may use the route.
func (r *Route) who() string {
	switch r.Access {
	case Open:
		return "For everybody."
	case Known:
		return "For everybody who is logged in or sends a token."
	case Own:
		return "Verb " + string(r.Verb) + " on a " + r.Kind + " of one's own; an admin's reaches further."
	}
	return "Verb " + string(r.Verb) + " on kind " + r.Kind + ": for the roles " + strings.Join(r.roles(), ", ") + "."
}

// roles returns the roles that may call the route.
func (r *Route) roles() []string {
	var out []string
	for _, role := range auth.Roles() {
		if r.allow(auth.Subject{Kind: auth.KindUser, ID: "u", UserID: "u", Role: role}) == nil {
			out = append(out, string(role))
		}
	}
	return out
}
