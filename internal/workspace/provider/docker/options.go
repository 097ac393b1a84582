package docker

import (
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/inside/program"
	"github.com/weirhq/weir/internal/workspace/provider"
)

const (
	// toolPath is where containers see our binary.
	toolPath = "/.weir"
	// helperPath is where a helper sees the home.
	helperPath = "/volume"
	// labelPort is where a workspace is served.
	labelPort = "weir.port"
)

// command is how our binary is called in a container.
func (p *Provider) command(words ...string) []string {
	return slices.Concat([]string{path.Join(toolPath, program.Name)}, p.config.Args, words)
}

// confined is what holds for every container, whatever an image or a person says. It is
// the only place that decides it, so that one reader and one test see all of it.
func (p *Provider) confined() *container.HostConfig {
	yes := true
	return &container.HostConfig{
		NetworkMode:   container.NetworkMode(NetworkNone),
		CapDrop:       []string{"ALL"},
		SecurityOpt:   []string{"no-new-privileges:true"},
		IpcMode:       container.IPCModePrivate,
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		// The first process of a container ignores a request to end unless it listens for
		// it, and has to collect what others leave: init does both.
		Init: &yes,
		Resources: container.Resources{
			NanoCPUs: int64(p.config.CPU * 1e9),
			Memory:   p.config.Memory,
			// The sum of memory and swap: no swap.
			MemorySwap: p.config.Memory,
			PidsLimit:  &p.config.Pids,
		},
	}
}

// workspace is the container of a workspace.
func (p *Provider) workspace(s provider.Spec, n note, image image, home string) client.ContainerCreateOptions {
	host := p.confined()
	switch p.config.Network {
	case NetworkNone:
	case NetworkOwn:
		host.NetworkMode = container.NetworkMode(nameOf(s.ID, "net"))
	default:
		host.NetworkMode = container.NetworkMode(p.config.Network)
	}
	host.Mounts = []mount.Mount{
		// An empty home gets what the image has at its place, with its owner.
		{Type: mount.TypeVolume, Source: home, Target: image.home},
		{Type: mount.TypeVolume, Source: p.tool.volume, Target: toolPath, ReadOnly: true, VolumeOptions: &mount.VolumeOptions{NoCopy: true}},
	}
	// A volume that an image asks for would be left behind by each container: it gets
	// memory in its place.
	for _, target := range image.volumes {
		host.Mounts = append(host.Mounts, mount.Mount{Type: mount.TypeTmpfs, Target: target, TmpfsOptions: &mount.TmpfsOptions{SizeBytes: 64 << 20}})
	}
	host.LogConfig = container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "8m", "max-file": "2"}}
	labels := n.labels(p.labels(s.ID, roleWorkspace))
	labels[labelOp], labels[labelPort] = s.Op.String(), strconv.Itoa(int(image.port))
	return client.ContainerCreateOptions{
		Name: nameOf(s.ID),
		Config: &container.Config{
			Image: image.name, Cmd: image.command, WorkingDir: image.home, Hostname: "workspace", Labels: labels,
			Env: []string{"HOME=" + image.home, "LANG=C.UTF-8", "WEIR_WORKSPACE=" + s.Name},
		},
		HostConfig: host,
	}
}

// helperMemory is enough for a helper, whatever the home is.
const helperMemory = 512 << 20

// helper is a container with our binary beside a home. It is root there, with what root
// needs to read everything, or to give files back to their owners, and no more.
func (p *Provider) helper(id weir.ID, verb, nonce string, mounts []mount.Mount, capabilities []string, words []string) client.ContainerCreateOptions {
	host := p.confined()
	host.CapAdd = capabilities
	host.ReadonlyRootfs = true
	host.AutoRemove = true // when whoever started it is gone, too
	host.Memory, host.MemorySwap = helperMemory, helperMemory
	host.Mounts = mounts
	host.LogConfig = container.LogConfig{Type: "none"} // its output is the archive
	labels := p.labels(id, roleHelper)
	if nonce == "" {
		delete(labels, labelWorkspace)
	}
	return client.ContainerCreateOptions{
		Config: &container.Config{
			Image: p.tool.image, Cmd: p.command(append([]string{verb}, words...)...), User: "0:0", WorkingDir: "/", Labels: labels,
			OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		},
		HostConfig: host,
	}
}

// limits are the words that bound a home.
func (p *Provider) limits() []string {
	var words []string
	all := map[string]int64{"--entries": p.config.Limits.Entries, "--bytes": p.config.Limits.Bytes, "--ratio": p.config.Limits.Ratio}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] > 0 {
			words = append(words, name, strconv.FormatInt(all[name], 10))
		}
	}
	return words
}
