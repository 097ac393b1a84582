// Package workflowcmd has the commands on workflows and schedules, and weir run.
package workflowcmd
