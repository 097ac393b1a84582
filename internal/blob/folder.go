package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

const (
	// drafts holds files until they are complete. It is no part of the bucket.
	drafts = ".weir-drafts"
	// putTries is how often a Put creates the folder of its object again, while another
	// process deletes the last object there.
	putTries = 10
)

// folder is a bucket in the file system. The root keeps every path inside, also through
// symbolic links.
type folder struct {
	dir  string
	root *os.Root
}

func openFolder(dir string) (Bucket, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open the bucket %s: %w", dir, err)
	}
	if err := os.MkdirAll(abs, 0o750); err != nil {
		return nil, problem.Refuse("bucket", "choose a folder that this user may write to", "%v", err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open the bucket %s: %w", abs, err)
	}
	if err := root.MkdirAll(drafts, 0o750); err != nil {
		_ = root.Close()
		return nil, problem.Refuse("bucket", "choose a folder that this user may write to", "%v", err)
	}
	return &folder{dir: abs, root: root}, nil
}

func (f *folder) Name() string { return "folder://" + f.dir }

// Close implements io.Closer.
func (f *folder) Close() error { return f.root.Close() }

// Put writes a draft and renames it once it is on the disk.
func (f *folder) Put(ctx context.Context, key string, r io.Reader, size int64, _ string) (Object, error) {
	if err := checkKey(key); err != nil {
		return Object{}, err
	}
	draft := drafts + "/" + rand.Text()
	err := f.write(draft, &obedient{ctx, r}, size)
	if err == nil {
		err = f.place(draft, key)
	}
	if err != nil {
		return Object{}, fmt.Errorf("put %s: %w", key, errors.Join(err, f.discard(draft)))
	}
	return f.Stat(ctx, key)
}

// write writes a draft and makes sure that it is on the disk.
func (f *folder) write(draft string, r io.Reader, size int64) error {
	file, err := f.root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	if _, err = io.Copy(file, exactly(r, size)); err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// place renames a draft to the name of its object.
func (f *folder) place(draft, key string) error {
	dir := path.Dir(key)
	for try := 1; ; try++ {
		err := f.root.MkdirAll(dir, 0o750)
		if err == nil {
			err = f.root.Rename(draft, key)
		}
		if err == nil {
			return f.syncDir(dir)
		}
		if !errors.Is(err, fs.ErrNotExist) || try == putTries {
			return err
		}
	}
}

// syncDir makes a rename survive a crash of the machine.
func (f *folder) syncDir(dir string) error {
	d, err := f.root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the object was deleted meanwhile
	}
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (f *folder) discard(draft string) error {
	if err := f.root.Remove(draft); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *folder) Stat(_ context.Context, key string) (Object, error) {
	if err := checkKey(key); err != nil {
		return Object{}, err
	}
	info, err := f.root.Lstat(key)
	if err != nil || !info.Mode().IsRegular() {
		return Object{}, notThere("stat", key, err)
	}
	return object(key, info), nil
}

func (f *folder) Get(_ context.Context, key string, offset, length int64) (io.ReadCloser, Object, error) {
	if err := checkKey(key); err != nil {
		return nil, Object{}, err
	}
	// Only regular files are opened, because opening a pipe would wait for its writer.
	if info, err := f.root.Lstat(key); err != nil || !info.Mode().IsRegular() {
		return nil, Object{}, notThere("get", key, err)
	}
	file, err := f.root.Open(key)
	if err != nil {
		return nil, Object{}, notThere("get", key, err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, Object{}, fmt.Errorf("get %s: %w", key, err)
	}
	left := max(info.Size()-max(offset, 0), 0)
	if length >= 0 {
		left = min(left, length)
	}
	body := &part{r: io.NewSectionReader(file, max(offset, 0), left), c: file, left: left}
	return body, object(key, info), nil
}

// notThere turns a file system error into ErrNotFound if the object is missing. A path
// through a file is missing too, because nothing exists below a file.
func notThere(op, key string, err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return missing(op, key)
	}
	return fmt.Errorf("%s %s: %w", op, key, err)
}

func object(key string, info fs.FileInfo) Object {
	kind := mime.TypeByExtension(path.Ext(key))
	if kind == "" {
		kind = plainBytes
	}
	return Object{
		Key: key, Size: info.Size(), ContentType: kind, ModifiedAt: info.ModTime(),
		ETag: fmt.Sprintf("%x-%x", info.ModTime().UnixNano(), info.Size()),
	}
}

func (f *folder) Copy(ctx context.Context, from, to string) error {
	body, object, err := f.Get(ctx, from, 0, -1)
	if err != nil {
		return err
	}
	_, err = f.Put(ctx, to, body, object.Size, object.ContentType)
	return errors.Join(err, body.Close())
}

func (f *folder) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.remove(key); err != nil {
			return fmt.Errorf("delete %s: %w", key, err)
		}
	}
	return nil
}

// remove removes a file, and the folders that are empty afterwards.
func (f *folder) remove(key string) error {
	info, err := f.root.Lstat(key)
	if err == nil && info.IsDir() {
		return nil // not an object
	}
	if err == nil {
		err = f.root.Remove(key)
	}
	if err != nil {
		if err = notThere("delete", key, err); errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}
	for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
		if info, err := f.root.Lstat(dir); err != nil || !info.IsDir() || f.root.Remove(dir) != nil {
			return nil // another process changed the folder, or it is not empty
		}
	}
	return nil
}

func (f *folder) Presign(context.Context, string, string, time.Duration) (string, error) {
	return "", ErrNoPresign
}

// Sweep removes drafts of Puts that were cut off by the end of the process.
func (f *folder) Sweep(_ context.Context, before time.Time) (int, error) {
	files, err := fs.ReadDir(f.root.FS(), drafts)
	if err != nil {
		return 0, fmt.Errorf("sweep the bucket: %w", err)
	}
	n := 0
	for _, file := range files {
		info, err := file.Info()
		if err != nil || !info.ModTime().Before(before) {
			continue
		}
		if err := f.discard(drafts + "/" + file.Name()); err != nil {
			return n, fmt.Errorf("sweep the bucket: %w", err)
		}
		n++
	}
	return n, nil
}

// obedient ends a copy when its context does.
type obedient struct {
	ctx context.Context
	r   io.Reader
}

func (o *obedient) Read(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	return o.r.Read(p)
}

// part is the requested part of an object. If it ends too soon, that is an error.
type part struct {
	r    io.Reader
	c    io.Closer
	left int64
}

func (p *part) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.left -= int64(n)
	if err == io.EOF && p.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (p *part) Close() error { return p.c.Close() }
