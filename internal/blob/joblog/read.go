package joblog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/loop"
)

const (
	// lineMost is how much of a line is read: an agent cuts far below that.
	lineMost = 1 << 20
	// listAtOnce is how many chunks one listing of the bucket returns.
	listAtOnce = 1000
	// followEvery is how long Follow waits if nothing wakes it.
	followEvery = 2 * time.Second
)

// Log is the log of one attempt. Job is blob.NoJob, and Task the task's id, for a
// task without a job.
type Log struct {
	Job     string
	Task    string // its key in the job
	Attempt int
}

func (l Log) prefix() string { return blob.Prefix(blob.Log, l.Job, l.Task, l.Attempt) }

// Lines are lines of a log in order. An error ends them.
type Lines = iter.Seq2[Line, error]

// Read returns the lines behind a place, up to the current end of the log.
func Read(ctx context.Context, from blob.Bucket, l Log, after Place) Lines {
	return func(yield func(Line, error) bool) {
		r := newReader(ctx, from, l, after)
		if err := r.chunks(func(line Line) bool { return yield(line, nil) }); err != nil {
			yield(Line{}, err)
		}
	}
}

// Live tells Follow when there is more, and when there will be no more.
type Live struct {
	// Wake receives a value when the log may have grown. If nil, Follow polls every two
	// seconds.
	Wake <-chan struct{}
	// Ended reports that nothing will be added any more. Follow calls it before each
	// read, so that lines that were added before the end are read. If nil, the log never
	// ends.
	Ended func(context.Context) (bool, error)
}

// Follow returns the lines behind a place and waits for more, until the log has ended or
// ctx does, which is no error.
func Follow(ctx context.Context, from blob.Bucket, l Log, after Place, live Live) Lines {
	return func(yield func(Line, error) bool) {
		r := newReader(ctx, from, l, after)
		for stopped := false; ; {
			ended, err := live.ended(ctx)
			if err == nil {
				err = r.chunks(func(line Line) bool {
					stopped = !yield(line, nil)
					return !stopped
				})
			}
			switch {
			case stopped || ctx.Err() != nil:
				return
			case err != nil:
				yield(Line{}, err)
				return
			case ended || !loop.Wait(ctx, followEvery, live.Wake):
				return
			}
		}
	}
}

func (l Live) ended(ctx context.Context) (bool, error) {
	if l.Ended == nil {
		return false, nil
	}
	return l.Ended(ctx)
}

// Tail returns the last lines, at most n. It reads no more chunks than it needs.
func Tail(ctx context.Context, from blob.Bucket, l Log, n int) ([]Line, error) {
	return Before(ctx, from, l, Place{Chunk: math.MaxInt}, n)
}

// Before returns the last n lines in front of a place: the page before the line that has
// it.
func Before(ctx context.Context, from blob.Bucket, l Log, before Place, n int) ([]Line, error) {
	numbers, err := chunkNumbers(ctx, from, l, -1)
	if err != nil {
		return nil, err
	}
	var tail []Line
	for _, chunk := range slices.Backward(numbers) {
		if chunk > before.Chunk {
			continue
		}
		var lines []Line
		r := newReader(ctx, from, l, Place{Chunk: chunk})
		more := func(line Line) bool {
			if !line.Place.Before(before) {
				return false
			}
			lines = append(lines, line)
			return true
		}
		if _, err := r.chunk(chunk, more); err != nil {
			return nil, err
		}
		if tail = append(lines, tail...); len(tail) >= n {
			break
		}
	}
	return tail[max(len(tail)-n, 0):], nil
}

// Find returns the lines whose text matches.
func Find(lines Lines, matches func(text string) bool) Lines {
	return func(yield func(Line, error) bool) {
		for line, err := range lines {
			if (err != nil || matches(line.Text)) && !yield(line, err) {
				return
			}
		}
	}
}

// Attempts returns the attempts of a task that have a log.
func Attempts(ctx context.Context, from blob.Bucket, job, task string) ([]int, error) {
	prefix := blob.TaskPrefix(blob.Log, job, task)
	var found []int
	for after := ""; ; {
		objects, err := from.List(ctx, prefix, after, 1)
		if err != nil || len(objects) == 0 {
			slices.Sort(found)
			return found, err
		}
		attempt, _, _ := strings.Cut(strings.TrimPrefix(objects[0].Key, prefix), "/")
		if n, err := strconv.Atoi(attempt); err == nil {
			found = append(found, n)
		}
		after = prefix + attempt + "0" // sorts behind all that begins with attempt/
	}
}

// reader walks through a log. Chunks never change, so each is read once.
type reader struct {
	ctx    context.Context
	bucket blob.Bucket
	log    Log
	at     Place
	next   int // the chunk to read next
}

func newReader(ctx context.Context, from blob.Bucket, l Log, after Place) *reader {
	return &reader{ctx: ctx, bucket: from, log: l, at: after, next: after.Chunk}
}

// chunks yields the lines behind the place, of all existing chunks.
func (r *reader) chunks(yield func(Line) bool) error {
	numbers, err := chunkNumbers(r.ctx, r.bucket, r.log, r.next-1)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if n > r.next && !r.skip(n, yield) {
			return nil
		}
		more, err := r.chunk(n, yield)
		if err != nil || !more {
			return err
		}
		r.next = n + 1
	}
	return nil
}

// skip moves to a chunk and yields a line that reports the missing ones before it.
func (r *reader) skip(to int, yield func(Line) bool) bool {
	text := fmt.Sprintf("chunk %d of this log is missing", r.next)
	if to-r.next > 1 {
		text = fmt.Sprintf("chunks %d to %d of this log are missing", r.next, to-1)
	}
	r.at, r.next = Place{Chunk: to}, to
	return yield(Line{Stream: Weir, Text: text, Place: r.at})
}

// chunk yields the lines of one chunk that lie behind the place.
func (r *reader) chunk(n int, yield func(Line) bool) (more bool, err error) {
	body, _, err := r.bucket.Get(r.ctx, blob.LogKey(r.log.Job, r.log.Task, r.log.Attempt, n), 0, -1)
	if errors.Is(err, blob.ErrNotFound) {
		return true, nil // it was deleted with its job since the listing
	}
	if err != nil {
		return false, fmt.Errorf("read the log: %w", err)
	}
	defer body.Close()
	if n != r.at.Chunk {
		r.at = Place{Chunk: n}
	}
	lines, end, err := unpack(body)
	if err != nil {
		return false, fmt.Errorf("read the log: %w", err)
	}
	defer end()
	for number := 1; ; number++ {
		text, err := readLine(lines)
		if err != nil && err != io.EOF {
			return false, fmt.Errorf("read the log: %w", err)
		}
		if len(text) > 0 && number > r.at.Line {
			line := parse(text)
			r.at.Line = number
			line.Place = r.at
			if !yield(line) {
				return false, nil
			}
		}
		if err == io.EOF {
			return true, nil
		}
	}
}

// readLine reads up to a line break and drops what is over the limit.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if room := lineMost - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		return []byte(strings.TrimSuffix(string(line), "\n")), err
	}
}

// chunkNumbers lists the chunks behind a number.
func chunkNumbers(ctx context.Context, from blob.Bucket, l Log, behind int) ([]int, error) {
	after := ""
	if behind >= 0 {
		after = blob.LogKey(l.Job, l.Task, l.Attempt, behind)
	}
	var numbers []int
	for {
		objects, err := from.List(ctx, l.prefix(), after, listAtOnce)
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		for _, o := range objects {
			name := strings.TrimSuffix(strings.TrimPrefix(o.Key, l.prefix()), ".jsonl")
			if n, err := strconv.Atoi(name); err == nil && n >= 0 {
				numbers = append(numbers, n)
			}
			after = o.Key
		}
		if len(objects) < listAtOnce {
			slices.Sort(numbers)
			return numbers, nil
		}
	}
}
