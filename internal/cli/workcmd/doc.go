// Package workcmd has the commands on tasks, jobs, pools, artifacts, secrets and the timeline.
// Other packages of commands use what it knows of tasks and jobs: how they are found, listed,
// watched and logged.
package workcmd
