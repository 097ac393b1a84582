package httpapi

import "github.com/weirhq/weir/internal/workspace"

// workspaceRoutes are about workspaces.
func workspaceRoutes() []Route {
	return []Route{
		lists(workspace.List),
		makes(workspace.Create),
		described(workspace.Show),
		described(workspace.Set),
		described(workspace.Delete),
		described(workspace.Start),
		described(workspace.Stop),
		described(workspace.PutAway),
		described(workspace.Recover),
		described(workspace.Open),
		described(workspace.Explain),
		lists(workspace.ListLog),
		described(workspace.Print),
		described(workspace.ListArchives),
		described(workspace.ShowPolicy),
		described(workspace.SetPolicy),
		described(workspace.Import),
	}
}
