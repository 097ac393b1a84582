package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/weirhq/weir/internal/account"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/work"
)

// CreateJoinInput says for which node. A create that is sent again makes a
// second secret; the first one expires unused.
type CreateJoinInput struct {
	Body struct {
		Node string `json:"node,omitempty" maxLength:"200" doc:"Only for the node of this name."`
		TTL  Period `json:"ttl,omitzero" doc:"How long it works."`

		Labels   map[string]string `json:"labels,omitempty" doc:"Labels the node has, whatever its agent says. Left out: those of the agent."`
		Services map[string]int    `json:"services,omitempty" doc:"Services it may do, with the most slots of each. Left out: what the agent offers."`
		Any      bool              `json:"any,omitempty" doc:"The node may take any work: its agent says what it is. Needed where neither labels nor services are named."`
	}
}

func (a *API) createJoin(ctx context.Context, in *CreateJoinInput) (*Made[account.Secret], error) {
	secret, err := a.config.Auth.CreateJoin(ctx, auth.From(ctx), auth.NewJoin{Node: in.Body.Node, Bound: auth.Bound{Labels: in.Body.Labels, Services: in.Body.Services}, Any: in.Body.Any, TTL: time.Duration(in.Body.TTL)})
	if err != nil {
		return nil, err
	}
	return &Made[account.Secret]{Status: http.StatusCreated, Body: account.Secret{Secret: secret}}, nil
}

func (a *API) listJoins(ctx context.Context, _ *struct{}) (*All[auth.Join], error) {
	joins, err := a.config.Auth.Joins(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	return all(joins), nil
}

// JoinIDInput names a secret that was made for a node.
type JoinIDInput struct {
	Join string `path:"join" maxLength:"64"`
}

func (a *API) revokeJoin(ctx context.Context, in *JoinIDInput) (*Empty, error) {
	return nil, a.config.Auth.RevokeJoin(ctx, auth.From(ctx), in.Join)
}

// JoinInput is a node that wants to be known.
type JoinInput struct {
	Body struct {
		Secret string `json:"secret" maxLength:"200"`
		Node   string `json:"node" maxLength:"200"`
	}
}

// Credential is what a node shows from now on.
type Credential struct {
	Credential string `json:"credential" doc:"Told once: keep it."`
}

func (a *API) join(ctx context.Context, in *JoinInput) (*Made[Credential], error) {
	credential, err := a.config.Auth.Join(ctx, in.Body.Secret, in.Body.Node)
	if err != nil {
		return nil, err
	}
	return &Made[Credential]{Status: http.StatusCreated, Body: Credential{credential}}, nil
}

func (a *API) revokeNode(ctx context.Context, in *work.NamedNode) (*Empty, error) {
	return nil, a.config.Auth.RevokeNode(ctx, auth.From(ctx), in.Node)
}
