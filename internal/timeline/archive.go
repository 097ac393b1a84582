package timeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/problem"
)

const (
	archivePrefix = "timeline/"
	archiveSuffix = ".jsonl.zst"
	archiveType   = "application/zstd"
)

var partitionName = regexp.MustCompile(`^[a-z0-9_]{1,63}$`)

// Archive is an Exporter that writes one object of compressed JSON lines per partition:
// timeline/PARTITION.jsonl.zst. It reads back what it has written before it reports
// success.
func Archive(to blob.Bucket) Exporter {
	return archive{open: func(context.Context) (blob.Bucket, error) { return to, nil }}
}

// ArchiveAt is [Archive] for a folder, or the URL of a bucket, that is opened when there
// is something to export.
func ArchiveAt(at string) Exporter {
	return archive{open: func(ctx context.Context) (blob.Bucket, error) { return blob.Open(ctx, at) }, own: true}
}

type archive struct {
	open func(context.Context) (blob.Bucket, error)
	own  bool
}

// Export writes a partition and checks that it can be read.
func (a archive) Export(ctx context.Context, partition string, rows Rows) (location string, n int64, err error) {
	key, err := archiveKey(partition)
	if err != nil {
		return "", 0, err
	}
	to, err := a.open(ctx)
	if err != nil {
		return "", 0, err
	}
	if a.own {
		defer func() { err = errors.Join(err, blob.Close(to)) }()
	}
	text, lines := io.Pipe()
	written := make(chan int64, 1)
	go func() {
		n, err := compress(lines, rows)
		written <- n
		_ = lines.CloseWithError(err) // it never fails; nil is the end
	}()
	object, sum, err := blob.Upload(ctx, to, key, text, -1, archiveType)
	_ = text.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // the writer must not block
	n = <-written
	if err != nil {
		return "", 0, err
	}
	back, err := countBack(ctx, to, key, sum, object.Size)
	if err != nil {
		return "", 0, fmt.Errorf("read back %s: %w", key, err)
	}
	if back != n {
		return "", 0, fmt.Errorf("read back %s: %d rows came of %d: %w", key, back, n, blob.ErrCorrupt)
	}
	return to.Name() + "/" + key, n, nil
}

// compress writes the rows as lines.
func compress(to io.Writer, rows Rows) (n int64, err error) {
	out, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return 0, err
	}
	for line, err := range rows {
		if err == nil {
			_, err = out.Write(append(line[:len(line):len(line)], '\n'))
		}
		if err != nil {
			return n, err // without the end of the stream, so that a truncated stream is invalid
		}
		n++
	}
	return n, out.Close()
}

// countBack reads a whole object and compares it with its hash.
func countBack(ctx context.Context, from blob.Bucket, key, sum string, size int64) (n int64, err error) {
	for _, err := range readLines(ctx, from, key, sum, size) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Archived is a partition in an archive.
type Archived struct {
	Partition string    `json:"partition"`
	Size      int64     `json:"size"`
	At        time.Time `json:"at"`
}

// ListArchive returns the partitions that a bucket holds, the oldest first.
func ListArchive(ctx context.Context, from blob.Bucket) ([]Archived, error) {
	var all []Archived
	for after := ""; ; {
		objects, err := from.List(ctx, archivePrefix, after, 0)
		if err != nil {
			return nil, fmt.Errorf("list the archive: %w", err)
		}
		if len(objects) == 0 {
			return all, nil
		}
		for _, o := range objects {
			after = o.Key
			name, ok := strings.CutSuffix(path.Base(o.Key), archiveSuffix)
			if key, err := archiveKey(name); ok && err == nil && key == o.Key {
				all = append(all, Archived{Partition: name, Size: o.Size, At: o.ModifiedAt})
			}
		}
	}
}

func archiveKey(partition string) (string, error) {
	if !partitionName.MatchString(partition) {
		return "", problem.Refuse("partition", "list those there are, and take one", "%.80q is not the name of a partition", partition)
	}
	return archivePrefix + partition + archiveSuffix, nil
}
