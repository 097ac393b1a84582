package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

// logLine is a line of a log as it is sent, or its end.
type logLine struct {
	joblog.Line
	Place string `json:"place"`
	End   bool   `json:"end"`
}

// Log returns the lines that an attempt printed, behind a place; with follow it waits for
// more until the attempt has ended. Attempt 0 is the newest. If the connection breaks it
// continues where it was, unless the server stays away too long.
func (c *Client) Log(ctx context.Context, task weir.ID, attempt int, after joblog.Place, follow bool) iter.Seq2[joblog.Line, error] {
	return func(yield func(joblog.Line, error) bool) {
		r := &logReader{client: c, task: task, attempt: attempt, after: after, follow: follow, yield: yield}
		heard := time.Now()
		for failed := 0; ; {
			was := r.after
			done, err := r.read(ctx)
			if r.after != was || err == nil {
				failed, heard = 0, time.Now()
			}
			switch {
			case done || ctx.Err() != nil:
				return
			case err != nil && (kindOf(err) != problem.Unreachable || time.Since(heard) > patience || !follow && failed >= tries):
				yield(joblog.Line{}, err)
				return
			}
			failed++
			if !loop.Wait(ctx, pause(failed), nil) {
				return
			}
		}
	}
}

// logReader reads a log over as many connections as needed.
type logReader struct {
	client  *Client
	task    weir.ID
	attempt int
	after   joblog.Place
	follow  bool
	yield   func(joblog.Line, error) bool
}

// read reads one connection to its end. done reports that there is no more, or that the
// caller has stopped.
func (r *logReader) read(ctx context.Context) (done bool, err error) {
	query := values("follow", yes(r.follow))
	if r.attempt > 0 {
		query.Set("attempt", strconv.Itoa(r.attempt))
	}
	if r.after != (joblog.Place{}) {
		query.Set("after", r.after.String())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response, err := r.client.send(ctx, call{
		method: http.MethodGet, path: []string{"tasks", r.task.String(), "log"}, query: query, header: http.Header{"Accept": {"application/x-ndjson"}},
	}, nil)
	if err != nil {
		return false, r.client.unreachable(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // a part is enough
		return false, r.client.refused(response, text)
	}
	return r.lines(response.Body)
}

func (r *logReader) lines(body io.Reader) (done bool, err error) {
	scanner := bufio.NewScanner(body)
	scanner.Buffer(make([]byte, 64<<10), lineLimit)
	for scanner.Scan() {
		if len(scanner.Bytes()) == 0 {
			continue // a heartbeat
		}
		var l logLine
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return false, problem.New(problem.Failed, "is the server not older than this program?", "a line of %s is not understood: %s", r.client.Server(), err)
		}
		if l.End {
			return true, nil
		}
		place, err := joblog.ParsePlace(l.Place)
		if err != nil {
			return false, err
		}
		l.Line.Place, r.after = place, place
		if !r.yield(l.Line, nil) {
			return true, nil
		}
	}
	if err := scanner.Err(); err != nil {
		return false, r.client.unreachable(err)
	}
	// A log that is not followed ends with its answer; one that is followed has an end
	// line.
	return !r.follow, nil
}
