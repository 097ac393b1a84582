package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/loop"
)

// notesFile holds the place in the log, for the next process of the agent.
const notesFile = "docker.json"

// every is how many bytes of output are between two notes.
const every = 1 << 20

// place is how far the output of a container has been read. The engine keeps the log in
// pieces and drops the oldest, so times are the only way back to a place in it. Each
// stream has its own mark, because entries of two streams are in no order.
type place struct {
	Streams [2]mark `json:"streams"`
	// Said is how many bytes the driver itself wrote to stderr before the container did.
	Said int64 `json:"said,omitempty"`
}

// mark is an entry of one stream: its time, and how many bytes came before it.
type mark struct {
	At     string `json:"at,omitempty"`
	Before int64  `json:"before,omitempty"`
}

// tail copies the output of a container exactly once: it finds its place again after it
// lost the engine.
type tail struct {
	driver *Driver
	id     string
	notes  string
	out    driver.Output

	place place
	// from is where this reading of the log began. read and taken count the bytes of each
	// stream: those read so far, and those that the output has received.
	from        [2]mark
	read, taken [2]int64
	noted       int64
}

func newTail(d *Driver, id, state string, out driver.Output) *tail {
	t := &tail{driver: d, id: id, out: out}
	if state != "" {
		t.notes = filepath.Join(state, notesFile)
	}
	return t
}

// begin records what the driver wrote before the container could write anything. The tail
// of a container of an earlier start resumes where that start was.
func (t *tail) begin(fresh bool, said int64) error {
	if !fresh {
		return t.resume()
	}
	t.place.Said = said
	return t.note()
}

// resume finds the place of a previous process.
func (t *tail) resume() error {
	if t.notes != "" {
		text, err := os.ReadFile(t.notes)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read the place in the log: %w", err)
		}
		if err == nil && json.Unmarshal(text, &t.place) != nil {
			t.place = place{} // an incomplete note: begin at the beginning
		}
	}
	stdout, stderr := t.out.Taken()
	t.taken = [2]int64{stdout, max(0, stderr-t.place.Said)}
	for i, m := range t.place.Streams {
		if m.Before > t.taken[i] {
			t.place.Streams[i] = mark{} // the output lost some bytes, which the log may still have
		}
	}
	return nil
}

// note stores the place for the next process.
func (t *tail) note() error {
	t.noted = t.taken[0] + t.taken[1]
	if t.notes == "" {
		return nil
	}
	text, err := json.Marshal(t.place)
	if err != nil {
		return err
	}
	if err := os.WriteFile(t.notes+".new", text, 0o600); err != nil {
		return fmt.Errorf("note the place in the log: %w", err)
	}
	return os.Rename(t.notes+".new", t.notes)
}

// follow copies until the container has ended and everything is read, or until ctx ends.
func (t *tail) follow(ctx context.Context, ended <-chan struct{}) {
	for {
		err := t.copy(ctx, true)
		select {
		case <-ended:
			// The stream may have broken before the end, so the rest is read once more.
			last, cancel := context.WithTimeout(ctx, t.driver.cfg.Call)
			err = t.copy(last, false)
			cancel()
			if err != nil && ctx.Err() == nil {
				t.driver.cfg.Log.Warn("the end of a container's output is lost", "container", t.id, "error", err)
			}
			return
		default:
		}
		if err != nil {
			t.driver.cfg.Log.Debug("the output of a container broke off", "container", t.id, "error", err)
		}
		if !loop.Wait(ctx, 200*time.Millisecond, ended) {
			return
		}
	}
}

// copy reads the log from the place onward.
func (t *tail) copy(ctx context.Context, follow bool) error {
	since := t.rewind()
	log, err := t.driver.cli.ContainerLogs(ctx, t.id, client.ContainerLogsOptions{
		ShowStdout: true, ShowStderr: true, Timestamps: true, Follow: follow, Since: since,
	})
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = stdcopy.StdCopy(entry{t, 0, t.out.Stdout()}, entry{t, 1, t.out.Stderr()}, log)
	return err
}

// rewind returns to the place, and returns the time from which to read.
func (t *tail) rewind() (since string) {
	t.from = t.place.Streams
	t.read = [2]int64{t.from[0].Before, t.from[1].Before}
	return min(t.from[0].At, t.from[1].At)
}

// entry receives the entries of one stream, one write per entry, each beginning with its
// time.
type entry struct {
	tail   *tail
	stream int
	to     io.Writer
}

func (e entry) Write(text []byte) (int, error) {
	t := e.tail
	at, line, ok := bytes.Cut(text, []byte(" "))
	if !ok {
		return 0, fmt.Errorf("the engine sent a line without its time: %q", text)
	}
	if string(at) < t.from[e.stream].At {
		return len(text), nil // the other stream was not as far
	}
	if m := &t.place.Streams[e.stream]; m.At != string(at) {
		*m = mark{string(at), t.read[e.stream]}
		if t.taken[0]+t.taken[1]-t.noted > every {
			if err := t.note(); err != nil {
				t.driver.cfg.Log.Warn("the place in a container's output is not kept", "container", t.id, "error", err)
			}
		}
	}
	// Bytes that the output already has are left out.
	skip := min(max(0, t.taken[e.stream]-t.read[e.stream]), int64(len(line)))
	t.read[e.stream] += int64(len(line))
	if skip < int64(len(line)) {
		t.taken[e.stream] = t.read[e.stream]
		_, _ = e.to.Write(line[skip:]) // an Output never fails
	}
	return len(text), nil
}

// counter counts the bytes that the driver itself writes.
type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(text []byte) (int, error) {
	c.n += int64(len(text))
	return c.to.Write(text)
}
