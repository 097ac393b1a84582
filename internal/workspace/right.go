package workspace

import (
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

// May is nil, or says why somebody may not do that to a workspace, which was called so.
// One that is somebody else's is not there, in the very words for one that is not: else
// the words would tell who has what.
func May(by auth.Subject, verb auth.Verb, w Workspace, called string) error {
	err := auth.Allow(by, verb, auth.Object{Kind: "workspace", Owner: w.OwnerID.String()})
	if err != nil && problem.Explain(err).Kind == problem.NotFound {
		if _, bad := weir.ParseID(called); bad == nil {
			called = w.ID.String()
		}
		return notFound(called)
	}
	return err
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
