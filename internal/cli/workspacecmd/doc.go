// Package workspacecmd has the commands on workspaces.
package workspacecmd
