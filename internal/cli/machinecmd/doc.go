// Package machinecmd has the commands on agents, nodes and workers.
package machinecmd
