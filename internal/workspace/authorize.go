package workspace

import (
	"context"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

// Reach reads the workspace that somebody means, if they may do that to it: see [Store.Find].
// One that is somebody else's is not there, in the very words for one that is not: else the
// words would tell who has what.
func (s *Store) Reach(ctx context.Context, who auth.Subject, verb auth.Verb, called string) (Workspace, error) {
	owner := who.Name
	if who.Kind == auth.KindSystem {
		owner = ""
	}
	w, err := s.Find(ctx, owner, called)
	if err != nil {
		return w, err
	}
	err = auth.Allow(who, verb, auth.Object{Kind: "workspace", Owner: w.OwnerID.String()})
	if err != nil && problem.Explain(err).Kind == problem.NotFound {
		if _, bad := weir.ParseID(called); bad == nil {
			called = w.ID.String()
		}
		err = notFound(called)
	}
	return w, err
}

// MayLive is nil, or says why somebody may not make, start or open a workspace of a
// provider: whoever has the terminal of one that runs as the server itself may do what
// the server may.
func MayLive(by auth.Subject, provider string) error {
	admin := auth.Object{Kind: "workspace"}
	if provider != OnThisMachine || auth.Can(by, auth.Administer, admin) {
		return nil
	}
	if by.Role == auth.Admin { // a token of an admin that is too narrow
		return auth.Allow(by, auth.Administer, admin)
	}
	return problem.New(problem.Forbidden, "choose docker, where the server offers it, or ask an admin",
		"a workspace on %s runs as the server itself: that takes the role %s, and yours is %s", provider, auth.Admin, by.Role)
}
