package workspace

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/problem"
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

// Unseen says that workspaces of a provider cannot be seen whole at the moment: nothing is
// done with them.
func (p Policy) Unseen(provider string) bool {
	return slices.Contains(p.UnknownOf, bucketName) || slices.Contains(p.UnknownOf, provider)
}
