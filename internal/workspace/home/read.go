package home

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// ErrRefused is an archive that is damaged, or that holds what no archive of a home
// does. It will not get better by trying again.
var ErrRefused = errors.New("the archive is refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf(format, args...))
}

// Verify reads an archive to its end, as Unpack would, and writes nothing.
func Verify(ctx context.Context, r io.Reader, limits Limits) (Summary, error) {
	sum, err := read(ctx, r, limits, func(e *entry) error {
		_, err := io.Copy(io.Discard, e.body)
		return err
	})
	if err != nil {
		return Summary{}, fmt.Errorf("verify: %w", err)
	}
	return sum, nil
}

// entry is one that an archive may have.
type entry struct {
	*tar.Header
	// path leads to it from the folder; none for the folder itself.
	path       []string
	attributes map[string]string
	body       io.Reader
}

// maxWindow is how far back a frame may point: Pack writes 8 MiB.
const maxWindow = 32 << 20

// read goes through an archive and hands on each entry, once it is known to be one that
// an archive of a home may have.
func read(ctx context.Context, r io.Reader, limits Limits, take func(*entry) error) (Summary, error) {
	limits = limits.filled()
	packed := &counted{r: r}
	plain, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return Summary{}, err
	}
	defer plain.Close()
	stream := &bounded{ctx: ctx, r: plain, packed: packed, ratio: limits.Ratio}
	entries := tar.NewReader(stream)
	var sum Summary
	end := int64(0)
	for {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Summary{}, damaged(err)
		}
		if sum.Entries++; sum.Entries > limits.Entries {
			return Summary{}, refuse("it has more than %d entries", limits.Entries)
		}
		if sum.Bytes += h.Size; h.Size < 0 || h.Size > limits.Bytes || sum.Bytes > limits.Bytes {
			return Summary{}, refuse("its files are longer than %d bytes together", limits.Bytes)
		}
		e, err := vet(h, sum.Entries == 1)
		if err != nil {
			return Summary{}, about(h.Name, fmt.Errorf("%w: %w", ErrRefused, err))
		}
		e.body = entries
		if err := take(e); err != nil {
			return Summary{}, about(h.Name, damaged(err))
		}
		end = stream.n + gap(stream.n)
	}
	if sum.Entries == 0 {
		return Summary{}, refuse("it does not begin with the folder itself")
	}
	// Two empty blocks, and then nothing: package tar does without.
	whole := stream.n == end+2*blockSize
	if _, err := io.Copy(io.Discard, stream); err != nil {
		return Summary{}, err
	}
	if !whole || stream.n != end+2*blockSize {
		return Summary{}, refuse("it is cut off, or something follows it")
	}
	return sum, nil
}

// damaged tells what is wrong with an archive from what went wrong when it was used.
func damaged(err error) error {
	for _, fault := range []error{tar.ErrHeader, tar.ErrFieldTooLong, io.ErrUnexpectedEOF} {
		if errors.Is(err, fault) && !errors.Is(err, ErrRefused) {
			return refuse("it is damaged: %w", err)
		}
	}
	return err
}

// vet checks an entry by itself.
func vet(h *tar.Header, first bool) (*entry, error) {
	e := &entry{Header: h}
	folder := h.Typeflag == tar.TypeDir
	if first || h.Name == "./" {
		if h.Name != "./" || !folder || !first {
			return nil, errors.New("an archive begins with the folder itself, and has it once")
		}
	} else {
		name := h.Name
		if folder {
			name = strings.TrimSuffix(name, "/")
		}
		var err error
		if e.path, err = split(name); err != nil {
			return nil, err
		}
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir, tar.TypeFifo:
	case tar.TypeSymlink:
		if h.Linkname == "" || len(h.Linkname) > maxLink || strings.ContainsRune(h.Linkname, 0) {
			return nil, errors.New("it is a link to nowhere")
		}
	case tar.TypeLink:
		if _, err := split(h.Linkname); err != nil {
			return nil, fmt.Errorf("it is another name of %q: %w", clip(h.Linkname), err)
		}
	case tar.TypeChar, tar.TypeBlock:
		return nil, errors.New("it is a device node")
	default:
		return nil, fmt.Errorf("entries of the kind %q are not known", h.Typeflag)
	}
	switch {
	case h.Size != 0 && h.Typeflag != tar.TypeReg:
		return nil, errors.New("only files have content")
	case h.Mode&^0o7777 != 0:
		return nil, fmt.Errorf("the mode %o is none", h.Mode)
	case h.Mode&modeSetuid != 0, !folder && h.Mode&(modeSetgid|modeSticky) != 0:
		return nil, fmt.Errorf("the mode %o gives the rights of another", h.Mode)
	case h.Uid < 0 || h.Gid < 0 || h.Uid >= 1<<32-1 || h.Gid >= 1<<32-1:
		return nil, fmt.Errorf("the owner %d:%d is none", h.Uid, h.Gid)
	}
	var err error
	e.attributes, err = attributes(h)
	return e, err
}

// split takes a path apart. One that leads elsewhere than down is an error.
func split(name string) ([]string, error) {
	if len(name) > maxPath {
		return nil, fmt.Errorf("its name is longer than %d bytes", maxPath)
	}
	path := strings.Split(name, "/")
	if len(path) > maxDepth+1 {
		return nil, fmt.Errorf("it is more than %d folders deep", maxDepth)
	}
	for _, part := range path {
		if part == "" || part == "." || part == ".." || len(part) > maxName || strings.ContainsRune(part, 0) {
			return nil, errors.New("its name leads out of the folder, or nowhere")
		}
	}
	return path, nil
}

// counted counts what was read, and keeps why no more could be.
type counted struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// bounded is the plain stream, within its ratio. What goes wrong on the way to the
// archive may heal, what goes wrong with the archive does not.
type bounded struct {
	ctx    context.Context
	r      io.Reader
	packed *counted
	ratio  int64
	n      int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.n > freeRatio && b.n/b.ratio > b.packed.n:
		return n, refuse("its content is more than %d times as long as it is", b.ratio)
	case b.packed.err != nil:
		return n, b.packed.err
	case err != nil && !errors.Is(err, io.EOF):
		return n, refuse("it is damaged: %w", err)
	}
	return n, err
}
