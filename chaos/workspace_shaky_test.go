//go:build unix

package chaos

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// errDown is the error of a part that does not work.
var errDown = errors.New("503 service unavailable")

// shakyProvider is a provider as one controller sees it.
type shakyProvider struct {
	provider.Provider
	reign *reign
}

func (p *shakyProvider) Look(ctx context.Context) (w provider.World, err error) {
	err = p.reign.do("look", nil, func() error {
		if err := p.house().out(ctx, p.Name(), true); err != nil {
			return err
		}
		if p.reign.house.fails("look") {
			return errDown
		}
		w, err = p.Provider.Look(ctx)
		return err
	})
	if err != nil && p.house().blind {
		return provider.World{}, nil
	}
	return w, err
}

func (p *shakyProvider) Provision(ctx context.Context, id weir.ID, mounts int64) error {
	return p.change(ctx, id, "provision", func() error {
		over, cancel := context.WithCancel(ctx)
		cancel()
		return p.Provider.Provision(over, id, mounts)
	}, func() error { return p.Provider.Provision(ctx, id, mounts) })
}

func (p *shakyProvider) Restore(ctx context.Context, id weir.ID, archive io.Reader, as provider.Volume) error {
	w, err := p.reign.meets("restore")
	if err != nil {
		return err
	}
	stream := &stream{reign: p.reign, r: archive}
	if w == within {
		stream.at = p.reign.house.place(300)
	}
	return p.struck(ctx, id, "restore", w, func() error { return p.Provider.Restore(ctx, id, stream, as) })
}

func (p *shakyProvider) Start(ctx context.Context, s provider.Spec) error {
	return p.change(ctx, s.ID, "start", nil, func() error { return p.Provider.Start(ctx, s) })
}

func (p *shakyProvider) Stop(ctx context.Context, id weir.ID) error {
	return p.change(ctx, id, "stop", func() error {
		over, cancel := context.WithCancel(ctx)
		cancel()
		return p.Provider.Stop(over, id)
	}, func() error { return p.Provider.Stop(ctx, id) })
}

func (p *shakyProvider) Archive(ctx context.Context, id weir.ID, meant provider.Volume, to io.Writer) (meta home.Meta, err error) {
	w, err := p.reign.meets("archive")
	if err != nil {
		return meta, err
	}
	stream := &stream{reign: p.reign, w: to}
	if w == within {
		stream.at = p.reign.house.place(300)
	}
	err = p.struck(ctx, id, "archive", w, func() error {
		meta, err = p.Provider.Archive(ctx, id, meant, stream)
		return err
	})
	return meta, err
}

func (p *shakyProvider) Remove(ctx context.Context, id weir.ID, meant provider.Volume) error {
	return p.change(ctx, id, "remove", func() error { return p.house().half(id, meant) }, func() error { return p.Provider.Remove(ctx, id, meant) })
}

func (p *shakyProvider) house() *house { return p.reign.house }

// change makes a call that changes something, while the house watches.
func (p *shakyProvider) change(ctx context.Context, id weir.ID, call string, part, whole func() error) error {
	if part != nil {
		half := part
		part = func() error { return p.house().watch(p.reign, p.Provider, id, call, half) }
	}
	return p.reign.do(call, part, func() error {
		if err := p.house().out(ctx, p.Name(), false); err != nil {
			return err
		}
		if p.house().fails(call) {
			return errDown
		}
		return p.house().watch(p.reign, p.Provider, id, call, whole)
	})
}

// struck makes a call that is a stream: with within, the blow falls inside the stream.
func (p *shakyProvider) struck(ctx context.Context, id weir.ID, call string, w when, whole func() error) error {
	if w == before {
		if err := p.reign.strike(); err != nil {
			return err
		}
	}
	if err := p.house().out(ctx, p.Name(), false); err != nil {
		return err
	}
	if p.house().fails(call) {
		return errDown
	}
	err := p.house().watch(p.reign, p.Provider, id, call, whole)
	if w == after || w == within { // within: the stream was too short for it
		return errors.Join(p.reign.strike(), err)
	}
	return err
}

// half removes a part of a volume, like a controller that dies while it removes it.
func (h *house) half(id weir.ID, meant provider.Volume) error {
	world, err := h.provider.Look(h.ctx)
	if err != nil {
		return err
	}
	if _, runs := world.Containers[id]; runs || world.Volumes[id] != meant {
		return provider.ErrStale
	}
	dir := filepath.Join(h.dir, "volumes", "ws-"+id.String()+"-home")
	if err := os.Remove(filepath.Join(dir, "state.json")); err != nil {
		return err
	}
	n := 0
	return filepath.WalkDir(filepath.Join(dir, "data"), func(name string, d fs.DirEntry, err error) error {
		if n++; err == nil && !d.IsDir() && n%2 == 0 {
			return os.Remove(name)
		}
		return err
	})
}

// stream is what a controller reads or writes. It ends when the controller does.
type stream struct {
	reign *reign
	r     io.Reader
	w     io.Writer
	// at is the byte at which the blow falls; zero means that it does not.
	at int64
	n  int64
}

func (s *stream) pass(n int) error {
	s.n += int64(n)
	if s.at > 0 && s.n >= s.at {
		s.at = 0
		return s.reign.strike()
	}
	return s.reign.gate()
}

func (s *stream) Read(p []byte) (int, error) {
	if s.at > 0 {
		p = p[:min(len(p), 64)]
	}
	n, err := s.r.Read(p)
	if over := s.pass(n); over != nil {
		return 0, over
	}
	return n, err
}

func (s *stream) Write(p []byte) (int, error) {
	if err := s.pass(len(p)); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}

// shakyBucket is a bucket as one controller sees it.
type shakyBucket struct {
	blob.Bucket
	reign *reign
}

func (b *shakyBucket) house() *house { return b.reign.house }

func (b *shakyBucket) Put(ctx context.Context, key string, r io.Reader, size int64, contentType string) (o blob.Object, err error) {
	call := "put archive"
	if strings.HasSuffix(key, ".meta") {
		call = "put meta"
	}
	w, err := b.reign.meets(call)
	if err != nil {
		return o, err
	}
	if w == before {
		if err := b.reign.strike(); err != nil {
			return o, err
		}
	}
	if err := b.house().out(ctx, bucketPart, false); err != nil {
		return o, err
	}
	s := &stream{reign: b.reign, r: r}
	if w == within {
		s.at = b.house().place(300)
	}
	var body io.Reader = s
	switch b.house().fault(call) {
	case faultDown:
		return o, errDown
	case faultCut:
		body = io.MultiReader(io.LimitReader(s, b.house().place(300)), broken{io.ErrUnexpectedEOF})
	case faultFlip:
		body = &flipped{r: s, at: b.house().place(300)}
	case faultGone:
		_, err := io.Copy(io.Discard, s)
		return blob.Object{Key: key, Size: size}, err
	}
	o, err = b.Bucket.Put(ctx, key, body, size, contentType)
	if w == after || w == within {
		err = errors.Join(b.reign.strike(), err)
	}
	return o, err
}

func (b *shakyBucket) Get(ctx context.Context, key string, offset, length int64) (body io.ReadCloser, o blob.Object, err error) {
	w, err := b.reign.meets("get")
	if err != nil {
		return nil, o, err
	}
	if w == before {
		if err := b.reign.strike(); err != nil {
			return nil, o, err
		}
	}
	if err := b.house().out(ctx, bucketPart, false); err != nil {
		return nil, o, err
	}
	f := b.house().fault("get")
	switch {
	case f == faultDown:
		return nil, o, errDown
	case f == faultGone, b.house().hides(key):
		return nil, o, blob.ErrNotFound
	}
	body, o, err = b.Bucket.Get(ctx, key, offset, length)
	if err != nil {
		return body, o, err
	}
	s := &stream{reign: b.reign, r: body}
	if w == within {
		s.at = b.house().place(300)
	}
	var r io.Reader = s
	switch f {
	case faultCut:
		r = io.MultiReader(io.LimitReader(s, b.house().place(300)), broken{io.ErrUnexpectedEOF})
	case faultFlip:
		r = &flipped{r: s, at: b.house().place(300)}
	}
	return readCloser{r, body}, o, nil
}

func (b *shakyBucket) List(ctx context.Context, prefix, after string, limit int) (list []blob.Object, err error) {
	err = b.reign.do("list", nil, func() error {
		if err := b.house().out(ctx, bucketPart, true); err != nil {
			return err
		}
		if b.house().fault("list") == faultDown {
			return errDown
		}
		list, err = b.Bucket.List(ctx, prefix, after, limit)
		return err
	})
	for i := range list {
		if b.house().hides(list[i].Key) { // a list must keep its length
			list[i].Key = strings.Replace(list[i].Key, "home.tar.zst", "home.hidden", 1)
		}
	}
	return list, err
}

func (b *shakyBucket) Delete(ctx context.Context, keys ...string) error {
	return b.reign.do("delete", func() error { return b.Bucket.Delete(ctx, keys[:len(keys)/2]...) }, func() error {
		if b.house().fault("delete") == faultDown {
			return errDown
		}
		return b.Bucket.Delete(ctx, keys...)
	})
}

type readCloser struct {
	io.Reader
	io.Closer
}

// broken is the end of a stream that was cut.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// flipped changes one bit.
type flipped struct {
	r  io.Reader
	at int64
}

func (f *flipped) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if f.at >= 0 && f.at < int64(n) {
		p[f.at] ^= 1
	}
	f.at -= int64(n)
	return n, err
}
