package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// bucketName is what the bucket is called among those that can be in trouble.
const bucketName = "bucket"

// world is everything that was seen in one look.
type world struct {
	// parts are what each provider has.
	parts    map[string]provider.World
	archives map[string]bool
	// marked: it is the bucket that has the archives.
	marked bool
}

// volume is that of a workspace, where it runs.
func (s world) volume(w *Workspace) (v provider.Volume, there bool) {
	v, there = s.parts[w.Provider].Volumes[w.ID]
	return v, there
}

// look lists containers, volumes and archives. What could not be listed is among the
// troubles, and nothing of it among what was seen. Archives come last: a volume that was
// not seen any more has its archive among them.
func (c *Controller) look(ctx context.Context) (world, map[string]string) {
	seen := world{parts: map[string]provider.World{}, archives: map[string]bool{}}
	troubles := map[string]string{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for name, p := range c.providers {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, c.config.LookMost)
			defer cancel()
			var part provider.World
			err := guarded(func() (err error) {
				part, err = p.Look(ctx)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				troubles[name] = fmt.Sprintf("%s: %v", name, err)
				return
			}
			seen.parts[name] = part
		})
	}
	all.Wait()
	var err error
	if seen.marked, err = c.archives(ctx, seen.archives); err != nil {
		troubles[bucketName] = fmt.Sprintf("%s: %v", bucketName, err)
	}
	return seen, troubles
}

const page = 1000

// archives lists those that are complete: their meta is there. marked: the mark is, too.
func (c *Controller) archives(ctx context.Context, into map[string]bool) (marked bool, err error) {
	whole := map[string]bool{}
	err = c.objects(ctx, func(o blob.Object) {
		marked = marked || o.Key == bucketMark
		if key, meta := strings.CutSuffix(o.Key, metaSuffix); !meta {
			whole[o.Key] = true
		} else if whole[key] {
			into[key] = true
		}
	})
	return marked, err
}

// objects lists all that archives are made of, to the end. Each page has its time: how
// many there are says nothing about whether the bucket answers.
func (c *Controller) objects(ctx context.Context, take func(blob.Object)) error {
	list := func(after string) ([]blob.Object, error) {
		ctx, cancel := context.WithTimeout(ctx, c.config.LookMost)
		defer cancel()
		return c.config.Bucket.List(ctx, prefix, after, page)
	}
	for after := ""; ; {
		objects, err := list(after)
		if err != nil {
			return err
		}
		for _, o := range objects {
			take(o)
			after = o.Key
		}
		if len(objects) < page {
			return nil
		}
	}
}

// of is what was seen of one workspace.
func (c *Controller) of(w *Workspace, s world) ladder.Seen {
	c.mu.Lock()
	defer c.mu.Unlock()
	container, runs := s.parts[w.Provider].Containers[w.ID]
	volume, there := s.volume(w)
	seen := ladder.Seen{Container: runs, Ready: container.Ready, Volume: there, Marker: volume.Marker, Mounts: volume.Mounts, Archive: w.ArchiveKey != "" && (s.archives[w.ArchiveKey] || c.kept[w.ArchiveKey])}
	if w.Op != nil {
		key := archiveKey(w.ID, *w.Op)
		seen.OpArchive = s.archives[key] || c.kept[key]
	}
	return seen
}

// mounted is the number on a volume; nil: there is none that is whole.
func (s world) mounted(w *Workspace) *int64 {
	volume, there := s.volume(w)
	if !there || volume.Marker == "" {
		return nil
	}
	return &volume.Mounts
}

// ids are of whom something was seen.
func (s world) ids() (ids []weir.ID) {
	for _, part := range s.parts {
		ids = slices.AppendSeq(slices.AppendSeq(ids, maps.Keys(part.Containers)), maps.Keys(part.Volumes))
	}
	return ids
}
