package timeline

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
)

const (
	// archiveLine is the longest line that is read. A row may describe 30,000 tasks.
	archiveLine = 64 << 20
	// archiveWindow is how far a compressed stream may refer back: our own streams need 8
	// MiB.
	archiveWindow = 64 << 20
)

// ReadExport returns the rows of a partition that was archived in a bucket, as they were
// exported. If the partition is not there, the error is blob.ErrNotFound.
func ReadExport(ctx context.Context, from blob.Bucket, partition string) Rows {
	key, err := archiveKey(partition)
	if err != nil {
		return func(yield func(json.RawMessage, error) bool) { yield(nil, err) }
	}
	return readLines(ctx, from, key, "", -1)
}

// readLines returns the lines of an object, and fails at the end if the object does not
// have the given sum and size, where these are known.
func readLines(ctx context.Context, from blob.Bucket, key, sum string, size int64) Rows {
	return func(yield func(json.RawMessage, error) bool) {
		body, object, err := from.Get(ctx, key, 0, -1)
		if err != nil {
			yield(nil, err)
			return
		}
		if size < 0 {
			size = object.Size
		}
		body = blob.Verify(body, sum, size)
		defer body.Close()
		text, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(archiveWindow))
		if err != nil {
			yield(nil, fmt.Errorf("read %s: %w", key, err))
			return
		}
		defer text.Close()
		lines := bufio.NewScanner(text)
		lines.Buffer(make([]byte, 64<<10), archiveLine)
		n := 0
		for lines.Scan() {
			n++
			if !json.Valid(lines.Bytes()) {
				yield(nil, fmt.Errorf("read %s: line %d is no JSON: %w", key, n, blob.ErrCorrupt))
				return
			}
			if !yield(json.RawMessage(lines.Bytes()), nil) {
				return
			}
		}
		err = lines.Err()
		if err == nil { // bytes after the stream count for the sum
			_, err = io.Copy(io.Discard, body)
		}
		if err != nil {
			yield(nil, fmt.Errorf("read %s: %w", key, err))
		}
	}
}

// archivedRow is a row in the form of the export.
type archivedRow struct {
	XID     int64 `json:"xid"`
	Seq     int64 `json:"seq"`
	At      time.Time
	Type    string
	Kind    string
	Subject string
	Job     weir.ID
	Task    weir.ID
	Tasks   []weir.ID
	Attempt int
	Worker  string
	Source  string
	Level   string
	Message string
	Data    json.RawMessage
}

// Events turns archived rows into events, one per line, as a feed would.
func Events(rows Rows) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		for line, err := range rows {
			var a archivedRow
			if err == nil {
				err = json.Unmarshal(line, &a)
			}
			if err != nil {
				yield(nil, fmt.Errorf("read the archive: %w", err))
				return
			}
			r := a.row()
			for _, e := range r.expand(nil, beginning, &Filter{}) {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func (a *archivedRow) row() *row {
	if a.Tasks == nil {
		a.Tasks = []weir.ID{a.Task}
	}
	if a.Kind == "" {
		a.Kind = "task"
	}
	if a.Level == "" {
		a.Level = "info"
	}
	return &row{
		xid: a.XID, seq: a.Seq, lines: len(a.Tasks), first: 1, tasks: a.Tasks, at: a.At, kind: a.Kind, typ: a.Type, subject: a.Subject, job: a.Job,
		attempt: a.Attempt, worker: a.Worker, source: a.Source, level: a.Level, message: a.Message, data: a.Data,
	}
}
