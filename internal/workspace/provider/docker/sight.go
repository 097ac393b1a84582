package docker

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Labels of what is ours.
const (
	labelInstall   = "weir.install"
	labelWorkspace = "weir.workspace"
	labelRole      = "weir.role"
	labelOp        = "weir.op"
	labelHome      = "weir.home"   // the nonce of the home
	labelMarker    = "weir.marker" // what the home holds
	labelMounts    = "weir.mounts"
	labelOver      = "weir.over" // the last start was ended
)

// Roles.
const (
	roleWorkspace = "workspace"
	roleHome      = "home"
	roleMark      = "mark"
	roleHelper    = "helper"
	roleTool      = "tool"
	roleNetwork   = "network"
)

func nameOf(id weir.ID, parts ...string) string {
	return strings.Join(append([]string{"ws-" + id.String()}, parts...), "-")
}

// labels are those of something of a workspace.
func (p *Provider) labels(id weir.ID, role string) map[string]string {
	return map[string]string{labelInstall: p.config.Install, labelWorkspace: id.String(), labelRole: role}
}

// note is what something says of a home: a mark, or the container that has mounted it.
type note struct {
	provider.Volume
	nonce string
	over  bool
}

func (n note) labels(into map[string]string) map[string]string {
	into[labelHome], into[labelMarker], into[labelMounts] = n.nonce, n.Marker, strconv.FormatInt(n.Mounts, 10)
	if n.over {
		into[labelOver] = "true"
	}
	return into
}

func readNote(labels map[string]string) (note, error) {
	mounts, err := strconv.ParseInt(labels[labelMounts], 10, 64)
	return note{provider.Volume{Marker: labels[labelMarker], Mounts: mounts}, labels[labelHome], labels[labelOver] == "true"}, err
}

// sight is what there is of one workspace.
type sight struct {
	// container is ws-{id}, in whatever state.
	container *container.Summary
	helpers   []string
	// homes are volumes by their nonces, marks are notes by the names of their volumes.
	homes map[string]string
	marks map[string]note
}

// state is the note that counts, of a home that is there. None: nothing is whole. The
// container speaks for its home, too, should somebody have swept the marks away.
func (s *sight) state() note {
	var top note
	notes := slices.Collect(maps.Values(s.marks))
	if s.container != nil {
		if n, err := readNote(s.container.Labels); err == nil {
			notes = append(notes, n)
		}
	}
	for _, n := range notes {
		if s.homes[n.nonce] != "" && (top.Marker == "" || n.compare(top) > 0) {
			top = n
		}
	}
	return top
}

func (n note) compare(other note) int {
	over := func(n note) int {
		if n.over {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(n.Mounts, other.Mounts), cmp.Compare(over(n), over(other)), strings.Compare(n.nonce, other.nonce))
}

// uses: the container runs, or may go on.
func uses(c *container.Summary) bool {
	if c == nil {
		return false
	}
	switch c.State {
	case container.StateCreated, container.StateExited, container.StateDead:
		return false
	}
	return true
}

// see lists what is there, of one workspace or of all, in one listing each of volumes and
// containers.
func (p *Provider) see(ctx context.Context, of ...weir.ID) (map[weir.ID]*sight, error) {
	filters := client.Filters{}.Add("label", labelInstall+"="+p.config.Install)
	for _, id := range of {
		filters = filters.Add("label", labelWorkspace+"="+id.String())
	}
	volumes, err := call(ctx, p, "list volumes", func(ctx context.Context) (client.VolumeListResult, error) {
		return p.engine.VolumeList(ctx, client.VolumeListOptions{Filters: filters})
	})
	if err != nil {
		return nil, err
	}
	if len(volumes.Warnings) > 0 {
		// A driver that did not answer has its volumes left out.
		return nil, errors.New("list volumes: " + strings.Join(volumes.Warnings, "; "))
	}
	containers, err := call(ctx, p, "list containers", func(ctx context.Context) (client.ContainerListResult, error) {
		return p.engine.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters})
	})
	if err != nil {
		return nil, err
	}
	all := map[weir.ID]*sight{}
	at := func(labels map[string]string) *sight {
		id, err := weir.ParseID(labels[labelWorkspace])
		if err != nil || labels[labelInstall] != p.config.Install {
			return &sight{homes: map[string]string{}, marks: map[string]note{}} // no workspace's
		}
		if all[id] == nil {
			all[id] = &sight{homes: map[string]string{}, marks: map[string]note{}}
		}
		return all[id]
	}
	for _, v := range volumes.Items {
		switch v.Labels[labelRole] {
		case roleHome:
			at(v.Labels).homes[v.Labels[labelHome]] = v.Name
		case roleMark:
			n, err := readNote(v.Labels)
			if err != nil {
				return nil, errors.New("list volumes: " + v.Name + " has no number of mounts")
			}
			at(v.Labels).marks[v.Name] = n
		}
	}
	for _, c := range containers.Items {
		switch c.Labels[labelRole] {
		case roleWorkspace:
			at(c.Labels).container = &c
		case roleHelper:
			s := at(c.Labels)
			s.helpers = append(s.helpers, c.ID)
		}
	}
	return all, nil
}

// seeOne lists what is there of one.
func (p *Provider) seeOne(ctx context.Context, id weir.ID) (*sight, error) {
	all, err := p.see(ctx, id)
	if err != nil {
		return nil, err
	}
	if all[id] == nil {
		return &sight{homes: map[string]string{}, marks: map[string]note{}}, nil
	}
	return all[id], nil
}
