package workspaces

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
	"github.com/weirhq/weir/internal/workspace/provider/process"
)

// errands configures the process that packs.
type errands struct {
	ID     weir.ID `json:"id"`
	Dir    string  `json:"dir"`
	Bucket string  `json:"bucket"`
}

// Homed is the measurement of one home.
type Homed struct {
	Files int `json:"files"`
	// Bytes is the size of the files, Packed that of the archive.
	Bytes                    int64 `json:"bytes"`
	Packed                   int64 `json:"packed"`
	Archive, Verify, Restore Stage
	// Idle is the memory of the process before it begins, in bytes.
	Idle int64 `json:"idle_rss"`
}

// Stage is one errand.
type Stage struct {
	Seconds float64 `json:"seconds"`
	// Heap and Resident are the peak memory of the process in the meantime, in bytes.
	Heap     int64 `json:"peak_heap"`
	Resident int64 `json:"peak_rss"`
}

// MBps returns how many million bytes of a home are processed per second.
func (h Homed) MBps(s Stage) float64 { return float64(h.Bytes) / 1e6 / s.Seconds }

// Home makes a home of the given size, and has another process archive it into a bucket,
// read it back and restore it.
func Home(ctx context.Context, folder, bucket string, size int64) (h Homed, err error) {
	dir := filepath.Join(folder, fmt.Sprintf("home-%d", size))
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if bucket == "" {
		bucket = "folder://" + filepath.Join(dir, "bucket")
	}
	job := errands{Dir: dir, Bucket: bucket}
	_, _ = rand.Read(job.ID[:]) // never fails
	if err := job.provider().Provision(ctx, job.ID, 0); err != nil {
		return h, err
	}
	data := filepath.Join(dir, "volumes", "ws-"+job.ID.String()+"-home", "data")
	if err := fill(data, size); err != nil {
		return h, fmt.Errorf("fill a home: %w", err)
	}
	files, bytes, err := measured(data)
	if err != nil {
		return h, err
	}
	c, err := startPart("home", job)
	if err != nil {
		return h, err
	}
	if err := c.hear(&h); err != nil {
		return h, err
	}
	if err := c.stop(); err != nil {
		return h, err
	}
	h.Files, h.Bytes, err = measured(data)
	if err == nil && (h.Files != files || h.Bytes != bytes) {
		err = fmt.Errorf("%d files of %d bytes were there, %d of %d came back", files, bytes, h.Files, h.Bytes)
	}
	return h, err
}

func (e errands) provider() *process.Provider {
	return process.New(process.Config{Dir: e.Dir, Program: "/bin/true"})
}

// packHome is the main function of that process.
func packHome(ctx context.Context, spec json.RawMessage, _ io.Reader, out io.Writer) error {
	var e errands
	if err := json.Unmarshal(spec, &e); err != nil {
		return err
	}
	bucket, err := blob.Open(ctx, e.Bucket)
	if err != nil {
		return err
	}
	key := "workspaces/" + e.ID.String() + "/bench/home.tar.zst"
	p, volume := e.provider(), provider.Volume{Marker: provider.Fresh}
	h := Homed{Idle: resident()}
	var meta home.Meta
	if h.Archive, err = watch(func() (err error) {
		meta, err = store(ctx, bucket, key, func(to io.Writer) (home.Meta, error) { return p.Archive(ctx, e.ID, volume, to) })
		return err
	}); err != nil {
		return err
	}
	h.Packed = meta.Size
	if h.Verify, err = watch(func() error { return readBack(ctx, bucket, key, meta) }); err != nil {
		return err
	}
	if err := p.Remove(ctx, e.ID, volume); err != nil {
		return err
	}
	if h.Restore, err = watch(func() error {
		body, _, err := bucket.Get(ctx, key, 0, -1)
		if err != nil {
			return err
		}
		whole := blob.Verify(body, meta.SHA256, meta.Size)
		err = p.Restore(ctx, e.ID, whole, provider.Volume{Marker: key})
		return errors.Join(err, whole.Close())
	}); err != nil {
		return err
	}
	if err := errors.Join(bucket.Delete(ctx, key), blob.Close(bucket)); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(h)
}

// store and readBack do what the controller does.
func store(ctx context.Context, bucket blob.Bucket, key string, pack func(io.Writer) (home.Meta, error)) (meta home.Meta, err error) {
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() {
		var failed error
		meta, failed = pack(write)
		_ = write.CloseWithError(failed) // never fails
		done <- failed
	}()
	_, err = bucket.Put(ctx, key, read, -1, "application/zstd")
	_ = read.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // so that packing ends, too
	return meta, errors.Join(<-done, err)
}

func readBack(ctx context.Context, bucket blob.Bucket, key string, meta home.Meta) error {
	body, _, err := bucket.Get(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	whole := blob.Verify(body, meta.SHA256, meta.Size)
	sum, err := home.Verify(ctx, whole, home.Limits{})
	if err := errors.Join(err, whole.Close()); err != nil {
		return err
	}
	if sum.Entries != meta.Entries || sum.Bytes != meta.Bytes {
		return fmt.Errorf("%d entries were packed, %d came back", meta.Entries, sum.Entries)
	}
	return nil
}

// lookEvery is how often the memory of the process is read.
const lookEvery = 10 * time.Millisecond

// watch calls do and measures its time and memory.
func watch(do func() error) (s Stage, err error) {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // reset the peak, where that is possible
	over := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			metrics.Read(heap)
			s.Heap = max(s.Heap, int64(heap[0].Value.Uint64()))
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	})
	began := time.Now()
	err = do()
	s.Seconds = time.Since(began).Seconds()
	close(over)
	watcher.Wait()
	s.Resident = status("VmHWM:")
	return s, err
}

func resident() int64 { return status("VmRSS:") }

// status returns a line of /proc/self/status in bytes, or zero if there is none.
func status(name string) int64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, found := strings.Cut(string(text), name)
	if fields := strings.Fields(rest); found && len(fields) > 0 {
		kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
		return kilobytes << 10
	}
	return 0
}
