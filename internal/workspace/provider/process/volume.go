package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Limits bound a home.
type Limits = home.Limits

// Provision makes an empty home.
func (p *Provider) Provision(ctx context.Context, id weir.ID, mounts int64) error {
	return p.fill(ctx, id, provider.Volume{Marker: provider.Fresh, Mounts: mounts}, func(string) error { return nil })
}

// Restore makes a home of an archive.
func (p *Provider) Restore(ctx context.Context, id weir.ID, archive io.Reader, as provider.Volume) error {
	return p.fill(ctx, id, as, func(into string) error {
		_, err := home.Unpack(ctx, archive, into, p.config.Limits)
		return err
	})
}

// fill makes a volume whole: in a folder of this call's own first, then swapped in, then
// marked. What an earlier try has left is thrown away.
func (p *Provider) fill(ctx context.Context, id weir.ID, as provider.Volume, put func(into string) error) error {
	into := p.volume(id, filling+rand.Text())
	var there bool
	err := p.alone(ctx, id, func() (err error) {
		if there, err = p.fillable(id, as); err != nil || there {
			return err
		}
		if err := p.condemn(id, filling); err != nil {
			return err
		}
		if err := os.Mkdir(p.volume(id), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return os.Mkdir(into, 0o700)
	})
	if err != nil || there {
		return about("fill volume", err)
	}
	if err = put(into); err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = p.alone(ctx, id, func() error {
			if there, err := p.fillable(id, as); err != nil || there {
				return err
			}
			if err := p.condemn(id, "data"); err != nil {
				return err
			}
			if err := os.Rename(into, p.volume(id, "data")); err != nil {
				return err
			}
			return p.setState(id, held{Volume: as})
		})
	}
	return about("fill volume", errors.Join(err, removeAll(into), p.clear(id)))
}

// fillable: a volume is not there, or not whole, and nobody uses it. One that holds what it
// shall hold is there.
func (p *Provider) fillable(id weir.ID, as provider.Volume) (there bool, err error) {
	switch was, err := p.state(id); {
	case err != nil:
		return false, err
	case was.Marker == as.Marker:
		return true, nil
	case was.Marker != "":
		return false, fmt.Errorf("%w: it holds %s", provider.ErrStale, was.Marker)
	}
	return false, p.unused(id)
}

const (
	filling = "filling-"
	dying   = "dying-"
)

// condemn renames things in the folder of a volume that begin so, so that they are out of
// the way at once: half of one that is being removed is never taken for the whole, and
// whoever goes on removing later removes nothing else.
func (p *Provider) condemn(id weir.ID, prefix string) error {
	return unlessGone(within(p.volume(id), prefix, func(name string) error {
		if strings.HasPrefix(name, dying) {
			return nil
		}
		return os.Rename(p.volume(id, name), p.volume(id, dying+rand.Text()))
	}))
}

// clear removes what is condemned. It takes its time, and nobody has to wait for it.
func (p *Provider) clear(id weir.ID) error {
	return unlessGone(within(p.volume(id), dying, func(name string) error { return removeAll(p.volume(id, name)) }))
}

func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// within does something with everything in a folder whose name begins so.
func within(folder, prefix string, do func(name string) error) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			if err := do(entry.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func about(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// meant refuses a volume that is another one by now.
func (p *Provider) meant(id weir.ID, v provider.Volume) error {
	if err := p.unused(id); err != nil {
		return err
	}
	switch is, err := p.state(id); {
	case err != nil:
		return err
	case is.Marker == "":
		return provider.ErrNoVolume
	case is.Volume != v:
		return provider.ErrStale
	}
	return nil
}

// Archive packs the home. A start that comes meanwhile is let in, and the archive is none.
func (p *Provider) Archive(ctx context.Context, id weir.ID, meant provider.Volume, to io.Writer) (home.Meta, error) {
	err := p.alone(ctx, id, func() error {
		if err := p.meant(id, meant); err != nil {
			return err
		}
		return p.retire(id)
	})
	if err != nil {
		return home.Meta{}, fmt.Errorf("archive volume: %w", err)
	}
	meta, err := home.Seal(to, func(to io.Writer) (home.Summary, error) {
		return home.Pack(ctx, p.volume(id, "data"), to, p.config.Limits)
	})
	if err == nil {
		err = p.meant(id, meant) // whoever mounted it meanwhile has changed it
	}
	if err != nil {
		return home.Meta{}, fmt.Errorf("archive volume: %w", err)
	}
	return meta, nil
}

// Remove takes the volume away: first what says that it is whole, so that half of one is
// none. One that is not whole, or not there, is nobody's.
func (p *Provider) Remove(ctx context.Context, id weir.ID, meant provider.Volume) error {
	err := p.alone(ctx, id, func() error {
		if err := p.meant(id, meant); err != nil && !errors.Is(err, provider.ErrNoVolume) {
			return err
		}
		if err := unlessGone(os.Remove(p.volume(id, "state.json"))); err != nil {
			return err
		}
		return p.condemn(id, "")
	})
	if err == nil {
		err = p.clear(id)
	}
	if err == nil {
		err = p.alone(ctx, id, func() error { return p.forget(id) })
	}
	return about("remove volume", err)
}

// forget removes the folder of a volume with nothing left in it.
func (p *Provider) forget(id weir.ID) error {
	err := os.Remove(p.volume(id))
	if errors.Is(err, syscall.ENOTEMPTY) {
		return nil // somebody fills it again
	}
	if err := unlessGone(err); err != nil {
		return err
	}
	return unlessGone(os.Remove(p.run(id, ".volume")))
}

// removeAll removes folders, too, that their owner may not write to.
func removeAll(path string) error {
	if err := os.RemoveAll(path); err == nil || os.Geteuid() == 0 {
		return err
	}
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, _ error) error { // what cannot be opened up, RemoveAll names
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700) // #nosec G302 G122 -- a folder, about to go
		}
		return nil
	})
	return os.RemoveAll(path)
}

// writeWhole writes a file that is there whole or not at all, and stays.
func writeWhole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
