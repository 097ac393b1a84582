package home

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// Convert makes an archive of a tar.gz as another program wrote it: with the folder first,
// every folder before what is in it, and without what an archive of a home does not have.
// Whoever relies on it verifies it.
func Convert(ctx context.Context, r io.Reader, w io.Writer, limits Limits) (Summary, error) {
	plain, err := gzip.NewReader(r)
	if err != nil {
		return Summary{}, fmt.Errorf("convert: %w", refuse("it is damaged: %w", err))
	}
	limits = limits.filled()
	return pack(w, func(p *packer) error {
		c := &converter{packer: p, from: tar.NewReader(plain), made: map[string]bool{}, limits: limits}
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			h, err := c.from.Next()
			if errors.Is(err, io.EOF) {
				return errors.Join(toEnd(plain), c.root())
			}
			if err == nil {
				err = c.take(h)
			}
			if err != nil {
				return damaged(err)
			}
		}
	})
}

// padding is how much may follow the last entry: tar fills up its last block with zeros.
const padding = 1 << 20

// toEnd reads what follows the last entry: only at its end is the checksum.
func toEnd(plain io.Reader) error {
	rest, err := io.ReadAll(io.LimitReader(plain, padding+1))
	switch {
	case err != nil:
		return refuse("it is damaged: %w", err)
	case len(rest) > padding || len(bytes.Trim(rest, "\x00")) > 0:
		return refuse("something follows its last entry")
	}
	return nil
}

type converter struct {
	*packer
	from   *tar.Reader
	limits Limits
	made   map[string]bool
	// way is the folder that the last entry is in, or is: an archive goes down and up
	// again, and comes back to none.
	way string
}

// root writes the folder itself, unless that is done.
func (c *converter) root() error {
	if c.made["."] {
		return nil
	}
	return c.put(&tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755})
}

// take writes one entry, and the folders that it is in before it.
func (c *converter) take(h *tar.Header) error {
	if strings.HasPrefix(h.Name, "/") || slices.Contains(strings.Split(h.Name, "/"), "..") {
		return about(h.Name, refuse("its name leads out of the folder"))
	}
	name := path.Clean(h.Name)
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeSymlink, tar.TypeFifo, tar.TypeDir, tar.TypeLink:
	case tar.TypeXGlobalHeader:
		return nil
	default:
		c.sum.leave(name, "it is none of file, folder, link and FIFO")
		return nil
	}
	out := &tar.Header{
		Typeflag: h.Typeflag, Name: name, Linkname: h.Linkname, Size: h.Size, Uid: h.Uid, Gid: h.Gid, ModTime: h.ModTime,
		Mode: h.Mode & 0o777, PAXRecords: kept(h.PAXRecords),
	}
	if c.made[name] {
		if h.Typeflag == tar.TypeDir {
			return nil
		}
		return about(name, refuse("it is there twice"))
	}
	switch h.Typeflag {
	case tar.TypeDir:
		out.Mode, out.Name = h.Mode&0o3777, strings.TrimPrefix(name+"/", "./")
		if name == "." {
			out.Name = "./"
		}
	case tar.TypeLink:
		out.Linkname, out.Size = path.Clean(h.Linkname), 0
	}
	if name != "." {
		if err := c.above(name); err != nil {
			return err
		}
	}
	if err := c.put(out); err != nil {
		return about(name, err)
	}
	_, err := io.Copy(c.tar, c.from)
	return err
}

// above makes the folders that an entry is in, from the top.
func (c *converter) above(name string) error {
	if err := c.root(); err != nil {
		return err
	}
	for i, r := range name {
		if r != '/' || c.made[name[:i]] {
			continue
		}
		if err := c.put(&tar.Header{Typeflag: tar.TypeDir, Name: name[:i] + "/", Mode: 0o755}); err != nil {
			return err
		}
	}
	return nil
}

func (c *converter) put(h *tar.Header) error {
	h.Format = tar.FormatPAX
	if c.sum.Entries++; c.sum.Entries > c.limits.Entries {
		return refuse("it has more than %d entries", c.limits.Entries)
	}
	if c.sum.Bytes += h.Size; c.sum.Bytes > c.limits.Bytes {
		return refuse("its files are longer than %d bytes together", c.limits.Bytes)
	}
	name := path.Clean(h.Name)
	if in := path.Dir(name); name != "." && in != "." && c.way != in && !strings.HasPrefix(c.way, in+"/") {
		return about(name, refuse("what is in one folder is not in one place: unpack it, and pack it again"))
	}
	if c.made[name], c.way = true, name; h.Typeflag != tar.TypeDir {
		c.way = path.Dir(name)
	}
	return c.tar.WriteHeader(h)
}

// kept are the records that an archive of a home has, too: attributes of users.
func kept(records map[string]string) map[string]string {
	out := maps.Clone(records)
	maps.DeleteFunc(out, func(key, _ string) bool {
		return !slices.ContainsFunc([]string{"SCHILY.xattr.user.", "SCHILY.xattr.system.posix_acl_"}, func(begins string) bool { return strings.HasPrefix(key, begins) })
	})
	return out
}
