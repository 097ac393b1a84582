package httpapi

import "github.com/weirhq/weir/internal/auth"

// workspaceRoutes are about workspaces. A workspace is its owner's: each handler asks
// again when it knows whose it is.
func workspaceRoutes() []Route {
	return []Route{
		{get, "/workspaces", auth.Read, "workspace", Own, "List workspaces, newest first: one's own, or for an admin everybody's", handle((*API).listWorkspaces)},
		{post, "/workspaces", auth.Submit, "workspace", Own, "Create a workspace, and bring it to where it is wanted", creates(handle((*API).createWorkspace))},
		{get, "/workspaces/{workspace}", auth.Read, "workspace", Own, "Show a workspace: its phase, what is wanted, what is under way and what happens next", handle((*API).showWorkspace)},
		{patch, "/workspaces/{workspace}", auth.Command, "workspace", Own, "Change the name, the description or the times of a workspace", handle((*API).patchWorkspace)},
		{del, "/workspaces/{workspace}", auth.Command, "workspace", Own, "Delete a workspace with its home; archives are collected later", handle((*API).deleteWorkspace)},
		{post, "/workspaces/{workspace}/start", auth.Command, "workspace", Own, "Start a workspace: from standby, or out of its archive", handle((*API).startWorkspace)},
		{post, "/workspaces/{workspace}/stop", auth.Command, "workspace", Own, "Stop a workspace; its home stays", handle((*API).stopWorkspace)},
		{post, "/workspaces/{workspace}/archive", auth.Command, "workspace", Own, "Stop a workspace and put its home into the bucket", handle((*API).archiveWorkspace)},
		{post, "/workspaces/{workspace}/recover", auth.Command, "workspace", Own, "Clear the error of a workspace and try again", handle((*API).recoverWorkspace)},
		{post, "/workspaces/{workspace}/open", auth.Command, "workspace", Own, "Make an address that opens a workspace in a browser, once", handle((*API).openWorkspace)},
		{get, "/workspaces/{workspace}/why", auth.Read, "workspace", Own, "Say why a workspace is where it is, and what happens next", handle((*API).whyWorkspace)},
		{get, "/workspaces/{workspace}/log", auth.Read, "workspace", Own, "List what became of a workspace, newest first", handle((*API).workspaceLog)},
		{get, "/workspaces/{workspace}/logs", auth.Read, "workspace", Own, "Read what the container of a workspace printed last", handle((*API).workspaceLogs)},
		{get, "/workspaces/{workspace}/archives", auth.Read, "workspace", Own, "List the archives of a workspace's home, newest first", handle((*API).workspaceArchives)},
		{get, "/workspace-policy", auth.Read, "workspace", Own, "Show what holds for all workspaces", handle((*API).workspacePolicy)},
		{put, "/workspace-policy", auth.Manage, "workspace", Granted, "Change it: how many may run, and how long they last", handle((*API).setWorkspacePolicy)},
		{post, "/workspace-import", auth.Manage, "workspace", Granted, "Take over the workspaces of an earlier installation", large(handle((*API).importWorkspaces))},
	}
}
