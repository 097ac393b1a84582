package home

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Unpack brings a home back into a folder, which must be there and empty. If it
// returns an error, the folder is to be thrown away. Only root can give files their
// owners back; for others all belong to whoever unpacks.
func Unpack(ctx context.Context, r io.Reader, folder string, limits Limits) (Summary, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return Summary{}, fmt.Errorf("unpack: %w", err)
	}
	u := &unpacker{top: root, owns: os.Geteuid() == 0}
	defer u.close()
	if names, err := list(root); err != nil || len(names) > 0 {
		return Summary{}, fmt.Errorf("unpack: %w", errors.Join(err, fmt.Errorf("%s is not empty", folder)))
	}
	sum, err := read(ctx, r, limits, u.take)
	if err == nil {
		err = u.climb(0)
	}
	if err == nil {
		err = syncAll(root)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("unpack: %w", err)
	}
	return sum, nil
}

// unpacker stands in a folder that it has made itself, and writes nowhere else: an
// archive lists a folder, then what is in it.
type unpacker struct {
	top  *os.Root
	owns bool
	// way is the folder, what it is in, and so on up to the top.
	way []*made
}

// made is a folder that was made. It gets its mode and time when it is left.
type made struct {
	root *os.Root
	dir  *os.File
	entry
}

func (u *unpacker) close() {
	for _, m := range u.way {
		_ = m.dir.Close()  // nothing was written through it
		_ = m.root.Close() // the same
	}
	_ = u.top.Close() // the same
}

func (u *unpacker) take(e *entry) error {
	if len(e.path) == 0 {
		return u.enter(u.top, ".", e)
	}
	if err := u.climb(len(e.path)); err != nil {
		return err
	}
	here := u.way[len(u.way)-1]
	if len(u.way) != len(e.path) || !slices.Equal(here.path, e.path[:len(e.path)-1]) {
		return refuse("the folder that it is in does not come before it")
	}
	name := e.path[len(e.path)-1]
	err := u.make(here, name, e)
	if errors.Is(err, fs.ErrExist) {
		return refuse("it is there twice")
	}
	return err
}

// climb leaves folders, until so many are left.
func (u *unpacker) climb(to int) error {
	for len(u.way) > to {
		m := u.way[len(u.way)-1]
		u.way = u.way[:len(u.way)-1]
		err := errors.Join(u.dress(m.dir, &m.entry), setTime(m.dir, ".", m.ModTime), m.dir.Close(), m.root.Close())
		if err != nil {
			return about(m.Name, err)
		}
	}
	return nil
}

// enter goes on in a folder that is there.
func (u *unpacker) enter(from *os.Root, name string, e *entry) error {
	root, err := from.OpenRoot(name)
	if err != nil {
		return err
	}
	dir, err := root.Open(".")
	if err != nil {
		return errors.Join(err, root.Close())
	}
	u.way = append(u.way, &made{root, dir, *e})
	return nil
}

func (u *unpacker) make(here *made, name string, e *entry) error {
	switch e.Typeflag {
	case tar.TypeDir:
		if err := here.root.Mkdir(name, 0o700); err != nil {
			return err
		}
		return u.enter(here.root, name, e)
	case tar.TypeReg:
		f, err := here.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		err = fill(f, e.body, e.Size)
		if err == nil {
			err = u.dress(f, e)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		return setTime(here.dir, name, e.ModTime)
	case tar.TypeSymlink:
		if err := here.root.Symlink(e.Linkname, name); err != nil {
			return err
		}
	case tar.TypeLink:
		return u.link(here, name, e)
	case tar.TypeFifo:
		if err := makePipe(here.dir, name, uint32(e.Mode&0o777)); err != nil { // #nosec G115 -- nine bits
			return err
		}
	}
	if u.owns {
		if err := here.root.Lchown(name, e.Uid, e.Gid); err != nil {
			return err
		}
	}
	return setTime(here.dir, name, e.ModTime)
}

// link gives a file that was unpacked another name.
func (u *unpacker) link(here *made, name string, e *entry) error {
	file, err := u.way[0].root.Lstat(e.Linkname)
	if err != nil || !file.Mode().IsRegular() {
		return refuse("it is another name of %q, which is no file of this archive", clip(e.Linkname))
	}
	return u.way[0].root.Link(e.Linkname, strings.Join(e.path, "/"))
}

// dress gives a file or folder what its header says, but for the time. The mode comes
// after the owner, whose change may take bits away.
func (u *unpacker) dress(f *os.File, e *entry) error {
	if err := setAttributes(f, e.attributes); err != nil {
		return err
	}
	if u.owns {
		if err := f.Chown(e.Uid, e.Gid); err != nil {
			return err
		}
	}
	mode := fs.FileMode(e.Mode & 0o777) // #nosec G115 -- nine bits
	if e.Mode&modeSetgid != 0 {
		mode |= fs.ModeSetgid
	}
	if e.Mode&modeSticky != 0 {
		mode |= fs.ModeSticky
	}
	return f.Chmod(mode)
}

// page is what a hole is made of.
const page = 4096

var zeros [page]byte

// fill writes the content of a file, and leaves pages of zeros out: they read as zeros.
func fill(f *os.File, r io.Reader, size int64) error {
	buffer := make([]byte, min(max(size, 1), 64*page))
	for at := int64(0); at < size; {
		n, err := io.ReadFull(r, buffer[:min(int64(len(buffer)), size-at)])
		if err != nil {
			return err
		}
		if err := patch(f, buffer[:n], at); err != nil {
			return err
		}
		at += int64(n)
	}
	return f.Truncate(size)
}

// patch writes what of a chunk is not zeros.
func patch(f *os.File, chunk []byte, at int64) error {
	for i := 0; i < len(chunk); {
		end := i
		for end < len(chunk) && !hole(chunk[end:]) {
			end = min(end+page, len(chunk))
		}
		if end > i {
			if _, err := f.WriteAt(chunk[i:end], at+int64(i)); err != nil {
				return err
			}
		}
		i = end + page // what stopped it is a hole
	}
	return nil
}

// hole: the first page is zeros.
func hole(b []byte) bool {
	n := min(len(b), page)
	return bytes.Equal(b[:n], zeros[:n])
}
