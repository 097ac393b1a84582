package docker

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Provision makes an empty home.
func (p *Provider) Provision(ctx context.Context, id weir.ID, mounts int64) error {
	err := p.fill(ctx, id, provider.Volume{Marker: provider.Fresh, Mounts: mounts}, func(string, string) error { return nil })
	return about("fill volume", err)
}

// What a helper may do as root: reach every file, and give each its owner and mode.
var (
	mayRead  = []string{"DAC_OVERRIDE"}
	mayWrite = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"}
)

// Restore makes a home of an archive.
func (p *Provider) Restore(ctx context.Context, id weir.ID, archive io.Reader, as provider.Volume) error {
	err := p.fill(ctx, id, as, func(volume, nonce string) error {
		if err := p.tool.ready(ctx, p); err != nil {
			return err
		}
		mounts := []mount.Mount{{Type: mount.TypeVolume, Source: volume, Target: helperPath, VolumeOptions: &mount.VolumeOptions{NoCopy: true}}}
		options := p.helper(id, "unpack", nonce, mounts, mayWrite, append(p.limits(), helperPath))
		options.Name = nameOf(id, "unpack", nonce)
		_, err := p.help(ctx, options, archive, io.Discard)
		return err
	})
	return about("fill volume", err)
}

// fill makes a new home and marks it, last. What an earlier try has left is removed.
func (p *Provider) fill(ctx context.Context, id weir.ID, as provider.Volume, put func(volume, nonce string) error) error {
	s, err := p.fillable(ctx, id, as)
	if err != nil || s == nil {
		return err
	}
	if err := p.clear(ctx, s, ""); err != nil {
		return err
	}
	nonce := strings.ToLower(rand.Text())
	labels := p.labels(id, roleHome)
	labels[labelHome] = nonce
	volume := nameOf(id, "home", nonce)
	if err := p.volume(ctx, volume, labels); err != nil {
		return err
	}
	err = put(volume, nonce)
	if err == nil {
		// Somebody else may have been quicker.
		if s, err = p.fillable(ctx, id, as); err == nil && s != nil {
			err = p.note(ctx, id, s, note{Volume: as, nonce: nonce})
		}
	}
	if err != nil || s == nil {
		err = errors.Join(err, p.removeVolume(context.WithoutCancel(ctx), volume))
	}
	return err
}

// fillable gives what there is of a workspace that may be filled. None and no error: it
// holds what it shall hold.
func (p *Provider) fillable(ctx context.Context, id weir.ID, as provider.Volume) (*sight, error) {
	s, err := p.seeOne(ctx, id)
	if err != nil {
		return nil, err
	}
	switch was := s.state(); {
	case was.Marker == as.Marker:
		return nil, nil
	case was.Marker != "":
		return nil, fmt.Errorf("%w: it holds %s", provider.ErrStale, was.Marker)
	case uses(s.container):
		return nil, provider.ErrInUse
	}
	return s, nil
}

// clear removes all of a workspace that runs no more, but for the home with this nonce and
// its marks.
func (p *Provider) clear(ctx context.Context, s *sight, but string) error {
	if s.container != nil && s.container.Labels[labelHome] != but {
		if err := p.remove(ctx, s.container.ID); err != nil {
			return err
		}
	}
	for _, helper := range s.helpers {
		if err := p.dismiss(ctx, helper); err != nil {
			return err
		}
	}
	// First what says that it is whole, so that half of one is none.
	for name, n := range s.marks {
		if n.nonce != but {
			if err := p.removeVolume(ctx, name); err != nil {
				return err
			}
		}
	}
	for nonce, name := range s.homes {
		if nonce != but {
			if err := p.removeVolume(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// volume makes a volume with labels. One of that name with others is not it.
func (p *Provider) volume(ctx context.Context, name string, labels map[string]string) error {
	made, err := call(ctx, p, "make a volume", func(ctx context.Context) (client.VolumeCreateResult, error) {
		return p.engine.VolumeCreate(ctx, client.VolumeCreateOptions{Name: name, Driver: "local", Labels: labels})
	})
	switch {
	case err != nil:
		return err
	case made.Volume.Labels[labelInstall] != p.config.Install:
		return fmt.Errorf("the volume %s is not of this installation: rename or remove it", name)
	case !maps.Equal(made.Volume.Labels, labels):
		return fmt.Errorf("%w: %s is another one", provider.ErrStale, name)
	}
	return nil
}

func (p *Provider) removeVolume(ctx context.Context, name string) error {
	_, err := call(ctx, p, "remove a volume", func(ctx context.Context) (client.VolumeRemoveResult, error) {
		return p.engine.VolumeRemove(ctx, name, client.VolumeRemoveOptions{})
	})
	switch {
	case cerrdefs.IsNotFound(err):
		return nil
	case cerrdefs.IsConflict(err):
		return fmt.Errorf("%w: %w", provider.ErrInUse, err)
	}
	return err
}

// note sets a mark, and takes those away that it replaces.
func (p *Provider) note(ctx context.Context, id weir.ID, s *sight, n note) error {
	name := nameOf(id, "mark", strconv.FormatInt(n.Mounts, 10))
	if n.over {
		name += "-over"
	}
	if err := p.volume(ctx, name, n.labels(p.labels(id, roleMark))); err != nil {
		return err
	}
	for old, was := range s.marks {
		if old != name && was.compare(n) < 0 {
			if err := p.removeVolume(ctx, old); err != nil {
				return err
			}
		}
	}
	return nil
}

// retire notes that the last start is over.
func (p *Provider) retire(ctx context.Context, id weir.ID, s *sight) error {
	n := s.state()
	if n.Marker == "" || n.over && len(s.marks) == 1 {
		return nil
	}
	n.over = true
	return p.note(ctx, id, s, n)
}

// meant gives what there is of a workspace, if its volume is the one that is meant.
func (p *Provider) meant(ctx context.Context, id weir.ID, v provider.Volume) (*sight, error) {
	s, err := p.seeOne(ctx, id)
	if err != nil {
		return nil, err
	}
	switch is := s.state(); {
	case uses(s.container):
		return s, provider.ErrInUse
	case is.Marker == "":
		return s, provider.ErrNoVolume
	case is.Volume != v:
		return s, provider.ErrStale
	}
	return s, nil
}

// Archive packs the home, in a helper that reads it where it is. What arrives here has to
// be what the helper says that it has sent: a stream that was cut ends as a whole one does.
func (p *Provider) Archive(ctx context.Context, id weir.ID, meant provider.Volume, to io.Writer) (home.Meta, error) {
	meta, err := p.archive(ctx, id, meant, to)
	if err != nil {
		return home.Meta{}, fmt.Errorf("archive volume: %w", err)
	}
	return meta, nil
}

func (p *Provider) archive(ctx context.Context, id weir.ID, meant provider.Volume, to io.Writer) (none home.Meta, err error) {
	s, err := p.meant(ctx, id, meant)
	if err != nil {
		return none, err
	}
	if err := p.tool.ready(ctx, p); err != nil {
		return none, err
	}
	if err := p.retire(ctx, id, s); err != nil {
		return none, err
	}
	for _, helper := range s.helpers {
		if err := p.dismiss(ctx, helper); err != nil {
			return none, err
		}
	}
	volume, nonce := s.homes[s.state().nonce], strings.ToLower(rand.Text())
	mounts := []mount.Mount{{Type: mount.TypeVolume, Source: volume, Target: helperPath, ReadOnly: true, VolumeOptions: &mount.VolumeOptions{NoCopy: true}}}
	options := p.helper(id, "pack", nonce, mounts, mayRead, append(p.limits(), helperPath))
	options.Name = nameOf(id, "pack", nonce)
	sum, size := sha256.New(), &length{}
	meta, err := p.help(ctx, options, strings.NewReader(""), io.MultiWriter(to, sum, size))
	if err != nil {
		return none, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != meta.SHA256 || size.n != meta.Size {
		return none, fmt.Errorf("%d bytes were packed and %d arrived: the stream was cut", meta.Size, size.n)
	}
	_, err = p.meant(ctx, id, meant) // whoever mounted it meanwhile has changed it
	return meta, err
}

// length counts bytes.
type length struct{ n int64 }

func (l *length) Write(b []byte) (int, error) {
	l.n += int64(len(b))
	return len(b), nil
}

// Remove takes the volume away. One that is not whole, or not there, is nobody's.
func (p *Provider) Remove(ctx context.Context, id weir.ID, meant provider.Volume) error {
	s, err := p.meant(ctx, id, meant)
	if errors.Is(err, provider.ErrNoVolume) {
		err = nil
	}
	if err == nil {
		err = p.clear(ctx, s, "")
	}
	return about("remove volume", err)
}

func about(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
