package docker

import (
	"github.com/docker/go-units"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// least is the smallest memory limit that the engine accepts.
const least = 6 << 20

// limits returns the limits that the step asks for, or the default.
func (c Config) limits(run node.Run) (Limits, error) {
	l := c.Default
	switch {
	case run.CPU < 0:
		return l, problem.Refuse("cpu", "give a number of cores, such as 0.5", "%v is less than nothing", run.CPU)
	case run.Pids < 0:
		return l, problem.Refuse("pids", "give a number of processes, such as 100", "%d is less than nothing", run.Pids)
	}
	if run.CPU > 0 {
		l.CPU = run.CPU
	}
	if run.Pids > 0 {
		l.Pids = int64(run.Pids)
	}
	if run.Memory != "" {
		bytes, err := units.RAMInBytes(run.Memory)
		if err != nil || bytes < least {
			return l, problem.Refuse("memory", "give a size of at least 6m, such as 512m or 2g", "%q is no size of memory", run.Memory)
		}
		l.Memory = bytes
	}
	return l, l.within(c.Max)
}

func (l Limits) within(top Limits) error {
	const next = "ask for less, or have the operator of the node raise it"
	switch {
	case top.CPU > 0 && l.CPU > top.CPU:
		return problem.Refuse("cpu", next, "%v cores are more than the %v that this node gives to one container", l.CPU, top.CPU)
	case top.Memory > 0 && l.Memory > top.Memory:
		return problem.Refuse("memory", next, "%s is more than the %s that this node gives to one container", size(l.Memory), size(top.Memory))
	case top.Pids > 0 && l.Pids > top.Pids:
		return problem.Refuse("pids", next, "%d processes are more than the %d that this node gives to one container", l.Pids, top.Pids)
	}
	return nil
}

// size formats a number of bytes for people.
func size(bytes int64) string { return units.BytesSize(float64(bytes)) }
