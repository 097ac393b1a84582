package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/fleet/forward"
	"github.com/weirhq/weir/internal/fleet/tunnel"
	"github.com/weirhq/weir/internal/node/wire"
	"github.com/weirhq/weir/internal/problem"
)

// passedOn marks a request that another server passed on, so that two servers never pass one
// back and forth.
const passedOn = "Weir-Passed-On"

var (
	tunnelParam = &huma.Param{
		Name: "Upgrade", In: "header", Required: true, Schema: &huma.Schema{Type: huma.TypeString},
		Description: "websocket, with the protocol " + tunnel.Protocol + ".",
	}
	forwardParams = []*huma.Param{
		{Name: "serial", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}},
		{
			Name: "port", In: "query", Required: true, Schema: &huma.Schema{Type: huma.TypeInteger},
			Description: "The port, one of those that the operator of the PC allows.",
		},
		{
			Name: "force", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean},
			Description: "true: without a reservation; for admins. It can disturb what runs on the device.",
		},
		tunnelParam,
	}
	joinParams = []*huma.Param{
		{Name: "forward", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}, tunnelParam,
	}
)

// forwards returns the broker.
func (a *API) forwards() (*forward.Broker, error) {
	if a.config.Forwards == nil {
		return nil, problem.New(problem.NotFound, "ask the server that does", "this server carries no forwards")
	}
	return a.config.Forwards, nil
}

// deviceForward carries a forward to a device until it ends.
func (a *API) deviceForward() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.serveForward(w, r); err != nil {
			a.refuse(w, r, err)
		}
	})
}

// serveForward returns an error only before anything was sent.
func (a *API) serveForward(w http.ResponseWriter, r *http.Request) error {
	broker, err := a.forwards()
	if err != nil {
		return err
	}
	who := auth.From(r.Context())
	request := fleet.ForwardRequest{Serial: r.PathValue("serial"), Who: who}
	if err := broker.Knows(r.Context(), request.Serial); err != nil {
		return err
	}
	if request.Port, err = strconv.Atoi(r.URL.Query().Get("port")); err != nil || request.Port < 1 || request.Port > 65535 {
		return problem.Refuse("port", "give a number from 1 to 65535", "%.40q is no port", r.URL.Query().Get("port"))
	}
	if text := r.URL.Query().Get("force"); text != "" {
		if request.Force, err = strconv.ParseBool(text); err != nil {
			return problem.Refuse("force", "true or false", "%.40q is neither true nor false", text)
		}
	}
	if err := asksForTunnel(r); err != nil {
		return err
	}
	if request.Force {
		if err := auth.Allow(who, auth.Override, auth.Object{Kind: "device"}); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(a.life, func() { cancel(errStopping) })()
	session, err := broker.Open(ctx, request)
	if err != nil {
		if errors.Is(context.Cause(ctx), errStopping) {
			return errStopping
		}
		return err
	}
	user, err := tunnel.Accept(w, r)
	if err != nil {
		session.Drop()
		return nil //nolint:nilerr // the request was answered
	}
	session.Carry(ctx, user, func(ctx context.Context) error { return a.stillMay(r.WithContext(ctx)) })
	return nil
}

// stillMay checks that the caller of a forward still may have it. A check that failed says
// nothing: the next one may work.
func (a *API) stillMay(r *http.Request) error {
	now, err := a.config.Door.Subject(r)
	if err != nil {
		switch problem.Explain(err).Kind {
		case problem.Unauthenticated, problem.Forbidden, problem.NotFound:
			return err
		}
		return nil
	}
	if r.URL.Query().Get("force") == "true" {
		if err := auth.Allow(now, auth.Override, auth.Object{Kind: "device"}); err != nil {
			return err
		}
	}
	return auth.Allow(now, auth.Submit, auth.Object{Kind: "forward"})
}

// asksForTunnel refuses a request that no tunnel can come of. A browser sends an origin, and
// no page is meant to open one.
func asksForTunnel(r *http.Request) error {
	if !tunnel.Asked(r) {
		return problem.New(problem.Invalid, "use weir device forward", "the request does not ask for a WebSocket of the protocol %s", tunnel.Protocol)
	}
	if r.Header.Get("Origin") != "" {
		return problem.New(problem.Forbidden, "use weir device forward", "a page may not open a forward")
	}
	return nil
}

// ForwardsInput asks for the forwards of a PC.
type ForwardsInput struct{ Body wire.ForwardsWanted }

// agentForwards waits for a forward to a device of the calling node.
func (a *API) agentForwards(ctx context.Context, in *ForwardsInput) (*One[wire.Forwards], error) {
	broker, err := a.forwards()
	if err != nil {
		return nil, err
	}
	leave, err := a.polls.Take(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a.life, func() { cancel(errStopping) })()
	within := min(time.Duration(in.Body.Wait)*time.Second, a.longestWait())
	orders, err := broker.Orders(ctx, auth.From(ctx).ID, in.Body.Ports, within)
	if err != nil && errors.Is(context.Cause(ctx), errStopping) {
		return nil, errStopping
	}
	out := wire.Forwards{Forwards: []wire.Forward{}}
	for _, o := range orders {
		out.Forwards = append(out.Forwards, wire.Forward(o))
	}
	return one(out, err)
}

// ForwardRefusal is why an agent does not take up a forward.
type ForwardRefusal struct {
	Forward string `path:"forward"`
	Body    wire.ForwardRefused
}

func (a *API) agentRefuseForward(ctx context.Context, in *ForwardRefusal) (*Empty, error) {
	broker, err := a.forwards()
	if err != nil {
		return nil, err
	}
	id, err := forwardID(in.Forward)
	if err != nil {
		return nil, err
	}
	return nil, broker.Refuse(ctx, auth.From(ctx).ID, id, in.Body.Why)
}

func forwardID(text string) (weir.ID, error) {
	id, err := weir.ParseID(text)
	if err != nil {
		return id, problem.Refuse("forward", "use the id that the server gave", "%.80q is not an id", text)
	}
	return id, nil
}

// agentJoinForward takes the agent's end of a forward, or passes the request on to the server
// that carries the forward.
func (a *API) agentJoinForward() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.serveJoin(w, r); err != nil {
			a.refuse(w, r, err)
		}
	})
}

// serveJoin returns an error only before anything was sent.
func (a *API) serveJoin(w http.ResponseWriter, r *http.Request) error {
	broker, err := a.forwards()
	if err != nil {
		return err
	}
	id, err := forwardID(r.PathValue("forward"))
	if err != nil {
		return err
	}
	if err := asksForTunnel(r); err != nil {
		return err
	}
	session, peer, err := broker.Join(r.Context(), auth.From(r.Context()).ID, id)
	if err != nil {
		return err
	}
	if session == nil {
		return a.passOn(w, r, peer)
	}
	agent, err := tunnel.Accept(w, r)
	if err != nil {
		session.Untake()
		return nil //nolint:nilerr // the request was answered
	}
	session.Attach(agent)
	return nil
}

// passOn sends a request to another server as it is. That one checks the credential itself, so
// servers need not trust one another.
func (a *API) passOn(w http.ResponseWriter, r *http.Request, peer string) error {
	to, err := url.Parse(peer)
	if err != nil || r.Header.Get(passedOn) != "" {
		return problem.New(problem.Unreachable, "check the setting peer_url of each server", "the forward is not carried where it should be")
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = to.Scheme, to.Host
			p.Out.Host = to.Host
			p.Out.Header.Set(passedOn, "1")
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			a.refuse(w, r, problem.New(problem.Unreachable, "check the setting peer_url of the other server",
				"the server that carries the forward does not answer: %s", err))
		},
	}
	proxy.ServeHTTP(w, r)
	return nil
}
