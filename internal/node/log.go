package node

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/joblog"
)

const (
	// logsMost is how many bytes of log are kept of all attempts of a task, the newest
	// first. One attempt writes at most 10 MiB, and a task may have thousands of
	// attempts.
	logsMost = 100 << 20
	// logPages bounds one listing of the bucket: a page has a thousand pieces.
	logPages = 100
	// markerMost is more than the marker of a removed log needs.
	markerMost = 512
)

// AppendLog stores a piece of the log of a leased task and notifies its readers.
func (d *Desk) AppendLog(ctx context.Context, lease Lease, chunk LogChunk) error {
	if d.bucket == nil {
		return ErrNoBucket
	}
	l, err := d.leased(ctx, lease)
	if err != nil {
		return err
	}
	job, task := l.place()
	if err := d.putLog(ctx, job, task, lease, chunk); err != nil {
		return err
	}
	if chunk.Quiet {
		return nil
	}
	data, err := json.Marshal(map[string]any{
		"key": blob.LogKey(job, task, lease.Attempt, chunk.Seq), "seq": chunk.Seq, "lines": chunk.Before + bytes.Count(chunk.Lines, []byte("\n")), "bytes": len(chunk.Lines), "from": chunk.From.UTC(), "to": chunk.To.UTC(),
	})
	if err != nil {
		return wrap("keep the log", err)
	}
	refused, err := d.Record(ctx, []Note{{Lease: lease, Type: "log", Data: data}})
	if err == nil && len(refused) > 0 {
		err = weir.ErrLeaseLost
	}
	return err
}

// makeRoom removes the logs of a task's oldest attempts if the task has too much log. A
// line that says so remains of each.
func (d *Desk) makeRoom(ctx context.Context, job, task string, attempt int) error {
	logs, total, err := d.oldLogs(ctx, job, task, attempt)
	if err != nil {
		return err
	}
	for _, number := range slices.Sorted(maps.Keys(logs)) {
		if total <= d.logsMost {
			return nil
		}
		old := logs[number]
		if old.size <= markerMost {
			continue
		}
		marker := joblog.Append(nil, joblog.Line{At: time.Now().UTC(), Stream: "weir", Text: "the log of this attempt was left out: those of all attempts were too long"})
		first := blob.LogKey(job, task, number, 0)
		if _, err := d.bucket.Put(ctx, first, bytes.NewReader(marker), int64(len(marker)), "application/x-ndjson"); err != nil {
			return err
		}
		if err := d.bucket.Delete(ctx, slices.DeleteFunc(old.keys, func(key string) bool { return key == first })...); err != nil {
			return err
		}
		total -= old.size
	}
	return nil
}

// oldLog is the log of an attempt in the bucket.
type oldLog struct {
	keys []string
	size int64
}

// oldLogs returns the logs of the attempts before this one.
func (d *Desk) oldLogs(ctx context.Context, job, task string, attempt int) (logs map[int]*oldLog, total int64, err error) {
	const page = 1000
	logs = map[int]*oldLog{}
	after := ""
	for range logPages {
		objects, err := d.bucket.List(ctx, blob.TaskPrefix(blob.Log, job, task), after, page)
		if err != nil {
			return nil, 0, err
		}
		for _, o := range objects {
			after = o.Key
			p, ok := blob.Parse(o.Key)
			if !ok || p.Attempt >= attempt {
				continue
			}
			if logs[p.Attempt] == nil {
				logs[p.Attempt] = &oldLog{}
			}
			logs[p.Attempt].keys = append(logs[p.Attempt].keys, o.Key)
			logs[p.Attempt].size += o.Size
			total += o.Size
		}
		if len(objects) < page {
			break
		}
	}
	return logs, total, nil
}
