package home

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Pack writes the folder to w as one archive. Nobody may change the folder meanwhile:
// a file that another one took the place of, or that has become shorter, is an error.
func Pack(ctx context.Context, folder string, w io.Writer, limits Limits) (Summary, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return Summary{}, fmt.Errorf("pack: %w", err)
	}
	defer root.Close()
	return pack(w, func(p *packer) error {
		p.ctx, p.limits = ctx, limits.filled()
		info, err := root.Lstat(".")
		if err != nil {
			return err
		}
		if err := p.folder(root, ".", "./", info); err != nil {
			return err
		}
		return p.within(root, "", 0)
	})
}

// Empty writes the archive of a home that nobody has used yet.
func Empty(w io.Writer, owner, group int, at time.Time) (Summary, error) {
	return pack(w, func(p *packer) error {
		p.sum.Entries++
		return p.tar.WriteHeader(&tar.Header{Format: tar.FormatPAX, Typeflag: tar.TypeDir, Name: "./", Mode: 0o755, Uid: owner, Gid: group, ModTime: at})
	})
}

func pack(w io.Writer, fill func(*packer) error) (Summary, error) {
	squeezed, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return Summary{}, fmt.Errorf("pack: %w", err)
	}
	p := &packer{out: squeezed, tar: tar.NewWriter(squeezed), first: map[inode]string{}}
	err = fill(p)
	// Each stage is closed, and the error of each counts: an archive whose end was
	// not written must not pass for one.
	if err == nil {
		err = p.tar.Close()
	}
	if closed := squeezed.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return Summary{}, fmt.Errorf("pack: %w", err)
	}
	return p.sum, nil
}

type packer struct {
	ctx    context.Context
	limits Limits
	out    io.Writer
	tar    *tar.Writer
	sum    Summary
	// first is where a file with several names was packed.
	first map[inode]string
}

// within packs what is in a folder, whose name in the archive is prefix.
func (p *packer) within(root *os.Root, prefix string, depth int) error {
	if depth > maxDepth {
		return about(prefix, fmt.Errorf("it is more than %d folders deep: move it up", maxDepth))
	}
	names, err := list(root)
	if err != nil {
		return about(prefix, err)
	}
	for _, name := range names {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if err := p.entry(root, name, prefix+name, depth); err != nil {
			return about(prefix+name, err)
		}
	}
	return nil
}

func list(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (p *packer) entry(root *os.Root, name, as string, depth int) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		inner, err := root.OpenRoot(name)
		if err != nil {
			return err
		}
		defer inner.Close()
		if err := p.folder(inner, ".", as+"/", info); err != nil {
			return err
		}
		return p.within(inner, as+"/", depth+1)
	case fs.ModeSymlink:
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		h := p.header(info, as, tar.TypeSymlink)
		h.Linkname = target
		return p.tar.WriteHeader(h)
	case fs.ModeNamedPipe:
		return p.tar.WriteHeader(p.header(info, as, tar.TypeFifo))
	case 0:
		return p.file(root, name, as, info)
	}
	p.sum.leave(as, "a "+kind(info.Mode())+" cannot be kept")
	return nil
}

// folder packs the folder that root is.
func (p *packer) folder(root *os.Root, name, as string, info fs.FileInfo) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	now, err := dir.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, now) {
		return errChanged
	}
	h := p.header(info, as, tar.TypeDir)
	if err := keepAttributes(dir, h); err != nil {
		return err
	}
	return p.tar.WriteHeader(h)
}

func (p *packer) file(root *os.Root, name, as string, info fs.FileInfo) error {
	h := p.header(info, as, tar.TypeReg)
	if id, several := inodeOf(info); several {
		if first, packed := p.first[id]; packed {
			h.Typeflag, h.Linkname = tar.TypeLink, first
			return p.tar.WriteHeader(h)
		}
		p.first[id] = as
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, now) || now.Size() < info.Size() {
		return errChanged
	}
	if err := keepAttributes(f, h); err != nil {
		return err
	}
	h.Size = info.Size()
	if p.sum.Bytes += h.Size; p.sum.Bytes > p.limits.Bytes {
		return fmt.Errorf("the files are longer than %d bytes together", p.limits.Bytes)
	}
	parts, err := dataOf(f, info)
	if err != nil {
		return err
	}
	if parts != nil {
		return p.sparse(f, h, parts)
	}
	if err := p.tar.WriteHeader(h); err != nil {
		return err
	}
	return copyExactly(p.tar, f, h.Size)
}

var errChanged = errors.New("it was changed while it was packed: try again")

// copyExactly copies n bytes, no more if the file has grown, and no fewer.
func copyExactly(w io.Writer, r io.Reader, n int64) error {
	switch copied, err := io.Copy(w, io.LimitReader(r, n)); {
	case err != nil:
		return err
	case copied < n:
		return errChanged
	}
	return nil
}

// header is what all kinds have. It counts the entry.
func (p *packer) header(info fs.FileInfo, as string, flag byte) *tar.Header {
	p.sum.Entries++
	mode := int64(info.Mode().Perm())
	if flag == tar.TypeDir {
		if info.Mode()&fs.ModeSetgid != 0 {
			mode |= modeSetgid
		}
		if info.Mode()&fs.ModeSticky != 0 {
			mode |= modeSticky
		}
	}
	uid, gid := ownerOf(info)
	return &tar.Header{Format: tar.FormatPAX, Typeflag: flag, Name: as, Mode: mode, Uid: uid, Gid: gid, ModTime: info.ModTime()}
}

// The bits of a mode in a tar header.
const (
	modeSetuid = 0o4000
	modeSetgid = 0o2000
	modeSticky = 0o1000
)

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device node"
	}
	return "file of this kind"
}

// clip keeps a message short whatever the name is.
func clip(name string) string {
	const most = 200
	if len(name) <= most {
		return name
	}
	return "…" + strings.ToValidUTF8(name[len(name)-most:], "")
}

// entryError is what went wrong with one entry.
type entryError struct {
	name string
	err  error
}

func (e *entryError) Error() string { return fmt.Sprintf("%q: %v", clip(e.name), e.err) }
func (e *entryError) Unwrap() error { return e.err }

// about says which entry it was, unless err says it.
func about(name string, err error) error {
	if e := (*entryError)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	return &entryError{name, err}
}
