package workspacepages

import (
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// pages are those of the domain, with the stores they ask.
type pages struct {
	*site.Config
}

// Routes are the pages of the domain, and what people can do there.
func Routes(c *site.Config) site.Routes {
	w := &pages{Config: c}
	return site.Routes{Pages: w.pages(), Actions: w.actions()}
}

// pages are all pages. A right stands on the line of what it opens.
func (w *pages) pages() []site.Page {
	return []site.Page{
		{Path: "/workspaces", Verb: auth.Read, Kind: "workspace", Own: true, Load: w.workspaceList},
		{Path: workspacePolicyPath, Nav: "/workspaces", Verb: auth.Read, Kind: "workspace", Own: true, Load: w.workspacePolicy},
		{Path: "/workspaces/{workspace}", Nav: "/workspaces", Verb: auth.Read, Kind: "workspace", Own: true, Load: w.aWorkspace("", w.workspaceOverview)},
		{Path: "/workspaces/{workspace}/log", Nav: "/workspaces", Verb: auth.Read, Kind: "workspace", Own: true, Load: w.aWorkspace("/log", w.workspaceLog)},
		{Path: "/workspaces/{workspace}/output", Nav: "/workspaces", Verb: auth.Read, Kind: "workspace", Own: true, Load: w.aWorkspace("/output", w.workspaceOutput)},
		{Path: "/workspaces/{workspace}/open", Nav: "/workspaces", Verb: auth.Command, Kind: "workspace", Own: true, Load: w.openWorkspace},
	}
}

// actions are all that people can do.
func (w *pages) actions() []site.Action {
	return []site.Action{
		site.Addressed("/new-workspace", onWorkspace(site.Operated(w.Operations, workspace.Create, "/workspaces", w.askNewWorkspace, createdWorkspace))),
		onWorkspace(site.Operated(w.Operations, workspace.Start, "/workspaces", nil, movedTo(ladder.Running))),
		site.Operated(w.Operations, workspace.Stop, "/workspaces", nil, movedTo(ladder.Standby)),
		site.Operated(w.Operations, workspace.PutAway, "/workspaces", nil, movedTo(ladder.Archived)),
		site.Addressed("/workspaces/{workspace}/delete", site.Operated(w.Operations, workspace.Delete, "/workspaces", w.askDeleteWorkspace, movedTo(ladder.Deleted))),
		{Path: "/workspaces/{workspace}/recover", Nav: "/workspaces", Verb: auth.Command, Kind: "workspace", Own: true, Ask: w.askRecoverWorkspace, Do: w.recoverWorkspace},
		site.Addressed("/workspaces/{workspace}/change", onWorkspace(site.Operated(w.Operations, workspace.Set, "/workspaces", w.askChangeWorkspace, changedWorkspace))),
		site.Addressed(workspacePolicyPath+"/change", onWorkspace(site.Operated(w.Operations, workspace.SetPolicy, "/workspaces", w.askWorkspacePolicy, changedPolicy))),
	}
}
