package docker

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/distribution/reference"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/problem"
)

// Root is where a container sees the folder of its attempt.
const Root = "/weir"

// Labels of the driver's containers.
const (
	labelTask    = "weir.task"
	labelAttempt = "weir.attempt"
	labelFence   = "weir.fence"
	labelNode    = "weir.node"
	labelAgent   = "weir.agent"
)

// nameOf returns the same name for every start of one attempt.
func nameOf(task string, attempt int) string { return "weir-" + task + "-" + strconv.Itoa(attempt) }

// options decides everything about the container of the work. It is the only function
// that does, so that one reader and one test see all of it.
func (c Config) options(work driver.Work) (client.ContainerCreateOptions, error) {
	var none client.ContainerCreateOptions
	image, err := c.image(work.Run.Image)
	if err != nil {
		return none, err
	}
	limits, err := c.limits(work.Run)
	if err != nil {
		return none, err
	}
	network, err := c.network(work.Run.Network)
	if err != nil {
		return none, err
	}
	if dir := work.Run.Dir; dir != "" && !filepath.IsAbs(dir) {
		return none, problem.Refuse("dir", "give the full path inside the container", "%q is no full path", dir)
	}
	yes := true
	host := &container.HostConfig{
		NetworkMode:   container.NetworkMode(network),
		CapDrop:       []string{"ALL"},
		SecurityOpt:   []string{"no-new-privileges:true"},
		IpcMode:       container.IPCModePrivate,
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		// The first process of a container ignores a request to end unless it handles the
		// signal, and has to reap orphaned processes: init does both.
		Init:   &yes,
		Mounts: mounts(work.Dir),
		Resources: container.Resources{
			NanoCPUs: int64(limits.CPU * 1e9),
			Memory:   limits.Memory,
			// This is the sum of memory and swap, so there is no swap.
			MemorySwap: limits.Memory,
			PidsLimit:  &limits.Pids,
		},
		// The log driver is set here because the engine's default may be one that cannot
		// be read back. The log holds what a restarting agent has missed, and no more.
		LogConfig: container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "64m", "max-file": "2"}},
	}
	if c.ReadOnly {
		host.ReadonlyRootfs = true
		host.Tmpfs = map[string]string{"/tmp": "rw,nosuid,nodev,noexec,size=64m"}
	}
	return client.ContainerCreateOptions{
		Name: nameOf(work.Task, work.Attempt),
		Config: &container.Config{
			Image:      reference.FamiliarString(image),
			Cmd:        work.Run.Argv,
			Env:        work.Environ(Root),
			WorkingDir: work.Run.Dir,
			User:       c.user(),
			Labels: map[string]string{
				labelTask:    work.Task,
				labelAttempt: strconv.Itoa(work.Attempt),
				labelFence:   work.Fence,
				labelNode:    work.Node,
				labelAgent:   c.Agent,
			},
		},
		HostConfig: host,
	}, nil
}

// user returns the user of the container, or "" for the image's own. An agent that is not
// root uses its own user, because no other user could write to the folder, and the agent
// can remove files of its own user.
func (c Config) user() string {
	if c.User != "" || os.Geteuid() <= 0 {
		return c.User
	}
	return strconv.Itoa(os.Geteuid()) + ":" + strconv.Itoa(os.Getegid())
}

// mounts returns the parts of the attempt's folder that exist. The folder itself is not
// mounted.
func mounts(dir string) []mount.Mount {
	var all []mount.Mount
	for _, name := range []string{driver.ParamsFile, driver.InFolder, driver.SecretsFolder, driver.OutFolder} {
		source := filepath.Join(dir, name)
		if info, err := os.Lstat(source); err != nil || info.Mode()&os.ModeSymlink != 0 {
			continue
		}
		all = append(all, mount.Mount{
			Type:        mount.TypeBind,
			Source:      source,
			Target:      Root + "/" + name,
			ReadOnly:    name != driver.OutFolder,
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate},
		})
	}
	return all
}
