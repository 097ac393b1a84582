package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"
)

// List walks the tree in the order of keys and skips folders that cannot hold a requested
// key, so the cost of a page is its own objects and the folders on the way.
func (f *folder) List(ctx context.Context, prefix, after string, limit int) ([]Object, error) {
	if limit <= 0 {
		limit = listMost
	}
	w := &walk{ctx: ctx, tree: f.root.FS(), prefix: prefix, after: after, limit: limit}
	if err := w.folder("."); err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	return w.found, nil
}

type walk struct {
	ctx           context.Context
	tree          fs.FS
	prefix, after string
	limit         int
	found         []Object
}

func (w *walk) folder(dir string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(w.tree, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	// A folder sorts as its keys do: with the slash after its name.
	names := make(map[string]fs.DirEntry, len(entries))
	order := make([]string, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names[name] = e
		order = append(order, name)
	}
	sort.Strings(order)
	for _, name := range order {
		if len(w.found) == w.limit {
			return nil
		}
		if err := w.entry(dir, name, names[name]); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(dir, name string, e fs.DirEntry) error {
	key := name
	if dir != "." {
		key = dir + "/" + name
	}
	switch {
	case e.IsDir():
		inside := strings.HasPrefix(key, w.prefix) || strings.HasPrefix(w.prefix, key)
		behind := key > w.after || strings.HasPrefix(w.after, key)
		if !inside || !behind || key == drafts+"/" {
			return nil
		}
		return w.folder(strings.TrimSuffix(key, "/"))
	case !e.Type().IsRegular() || key <= w.after || !strings.HasPrefix(key, w.prefix):
		return nil
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	w.found = append(w.found, object(key, info))
	return nil
}
