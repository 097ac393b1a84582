package workspace

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// OnThisMachine is the provider whose workspaces run as the server itself: whoever has
// the terminal of one may do what the server may.
const OnThisMachine = "process"

// ProviderOf is how a workspace is to run, among the ways that a server offers; empty:
// the first of them.
func ProviderOf(name string, offered []string) (string, error) {
	switch {
	case len(offered) == 0:
		return "", problem.New(problem.Conflict, "set workspace_providers to docker, or to process for people that you trust with the machine", "no workspace can run here: the server has no provider")
	case name == "":
		return offered[0], nil
	case !slices.Contains(offered, name):
		return "", problem.Refuse("provider", "choose one of "+strings.Join(offered, ", "), "there is no provider %q here", name)
	}
	return name, nil
}

// Host is where workspaces are kept and run, and how one gets in. Operations are done there.
type Host struct {
	*Store
	// Users are those that workspaces belong to.
	Users *auth.Store
	// Offered are the ways to run that a new one may have, the usual one first.
	Offered []string
	// Providers run them, and Bucket has their archives. Without one nothing is archived.
	Providers []provider.Provider
	Bucket    blob.Bucket
	// Address is where they are reached; without a domain they are not.
	Address Address
	// At does something at the host that has providers, bucket and address, where this
	// one was made without. Nil: it is this one.
	At func(ctx context.Context, do func(*Host) error) error
}

func (h *Host) at(ctx context.Context, do func(*Host) error) error {
	if h.At == nil {
		return do(h)
	}
	return h.At(ctx, do)
}

// Provider is the one that is called so.
func (h *Host) Provider(name string) (provider.Provider, error) {
	for _, p := range h.Providers {
		if p.Name() == name {
			return p, nil
		}
	}
	return nil, problem.New(problem.Conflict, "ask the server that runs it, or set workspace_providers",
		"this server does not run workspaces on %s", name)
}

// Usable are the ways to run that somebody may choose from.
func (h *Host) Usable(who auth.Subject) (names []string) {
	for _, name := range h.Offered {
		if MayLive(who, name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// provide is how a workspace is to run that somebody makes; empty: the first way that is open
// to them. Where none is it is the usual one, which is refused with the reason.
func (h *Host) provide(who auth.Subject, name string) (string, error) {
	if usable := h.Usable(who); name == "" && len(usable) > 0 {
		return usable[0], nil
	}
	name, err := ProviderOf(name, h.Offered)
	if err == nil {
		err = MayLive(who, name)
	}
	return name, err
}

// mayRun refuses an image that a workspace may not have. The built-in one is everywhere,
// also with a provider that this server does not offer.
func (h *Host) mayRun(ctx context.Context, provider, image string) error {
	if image == "" {
		return nil
	}
	return h.at(ctx, func(h *Host) error {
		p, err := h.Provider(provider)
		if err != nil {
			return err
		}
		if err = p.Image(image); err == nil {
			return nil
		}
		refused := problem.Refuse("image", "leave it out for the built-in one; on docker the server's workspace_images says which others may run",
			"%s", err)
		refused.Err = err
		return refused
	})
}

// Open is an address that opens a workspace for who asks, once and soon; next is the path
// to begin with.
func (h *Host) Open(ctx context.Context, who auth.Subject, id weir.ID, next string) (link string, err error) {
	err = h.at(ctx, func(h *Host) (err error) {
		switch {
		case h.Address.Scheme == "":
			return problem.New(problem.NotFound, "say where the server is with --server URL or --public-url URL",
				"it is not known where the workspaces of this database are")
		case h.Address.Domain == "":
			return problem.New(problem.Conflict, "set workspace_domain to a domain whose names all lead to this server, such as ws.example.org",
				"workspaces cannot be opened: they have no host names")
		}
		link, err = h.Store.Open(ctx, who, id, h.Address, next)
		return err
	})
	return link, err
}

// Logs writes what the container of a workspace printed last.
func (h *Host) Logs(ctx context.Context, w Workspace, lines int, to io.Writer) error {
	return h.at(ctx, func(h *Host) error {
		p, err := h.Provider(w.Provider)
		if err != nil {
			return err
		}
		return p.Logs(ctx, w.ID, lines, to)
	})
}

// owner is whose a workspace is: who asks, or for those who may reach further somebody else.
func (h *Host) owner(ctx context.Context, who auth.Subject, verb auth.Verb, name string) (weir.ID, error) {
	text := who.UserID
	if name != "" && name != who.Name || who.Kind == auth.KindSystem && name != "" {
		if err := auth.Allow(who, verb, auth.Object{Kind: "workspace"}); err != nil {
			return weir.ID{}, err
		}
		u, err := h.Users.User(ctx, name)
		if err != nil {
			return weir.ID{}, err
		}
		text = u.ID
	}
	id, err := weir.ParseID(text)
	switch {
	case err == nil:
		return id, nil
	case who.Kind == auth.KindSystem:
		return id, problem.Refuse("owner", "make the first user", "there is nobody yet whose workspace it could be").Run("weir open")
	}
	return id, problem.Refuse("owner", "name a user", "who asks is no user")
}
