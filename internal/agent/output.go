package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/pgtext"
	"github.com/weirhq/weir/internal/vault"
)

const (
	// lineMost is how many bytes of a line the log keeps.
	lineMost = 64 << 10
	// lineSlack is how many more bytes of a line are read, so that a secret that spans
	// the cut is seen whole.
	lineSlack = 16 << 10
	// logMost is how many bytes of the beginning of an attempt's log are kept, and
	// tailMost how many of its end, because errors are at the end.
	logMost, tailMost = 10 << 20, 256 << 10
	// lastMost is how many bytes of the end of stderr go into an error.
	lastMost = 2 << 10
	// eventsMost is how many events of its own an attempt may write.
	eventsMost = 1000
)

// The names of the streams in the log.
const (
	streamOut  = "stdout"
	streamErr  = "stderr"
	streamWeir = "weir" // what the agent itself adds
)

// entry is a line of the log, ready to be shipped. out and err are how much of the
// streams is handled when the entry is shipped.
type entry struct {
	text     []byte
	at       time.Time
	out, err int64
}

// tailLine is a line beyond the limit that may be among the last lines.
type tailLine struct {
	stream string
	line   []byte
	cut    int64
}

// output receives what the work prints. Its lines become progress, results, events, or
// log. Everything that leaves it is valid text without secrets.
type output struct {
	mask *vault.Mask
	// note writes an event; percent reports progress.
	note    func(level, message string)
	percent func(float64)
	// stir signals that there is something to ship.
	stir func(bytes int)

	mu       sync.Mutex
	out, err splitter
	heard    time.Time // when it last printed something
	pending  []entry
	waiting  int // bytes in pending
	kept     int // bytes of lines kept so far
	dropped  int64
	tail     []tailLine
	tailSize int // bytes in tail
	events   int
	result   json.RawMessage
	broken   error
	last     []byte
	// taken is how much of the streams a previous process has handled.
	takenOut, takenErr int64
}

func newOutput(mask *vault.Mask) *output {
	o := &output{mask: mask, heard: time.Now()}
	o.out.line, o.err.line = o.stdoutLine, o.stderrLine
	return o
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// Stdout returns the writer for the work's output, including the line protocol.
func (o *output) Stdout() io.Writer { return writer(func(p []byte) { o.write(&o.out, p) }) }

// Stderr returns the writer for output that is only log.
func (o *output) Stderr() io.Writer { return writer(func(p []byte) { o.write(&o.err, p) }) }

// Taken returns how much a previous process of the agent has handled.
func (o *output) Taken() (stdout, stderr int64) { return o.takenOut, o.takenErr }

// Alive counts as output.
func (o *output) Alive() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = time.Now()
}

func (o *output) write(s *splitter, p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = time.Now()
	s.write(p)
	if o.stir != nil && len(o.pending) > 0 {
		o.stir(o.waiting)
	}
}

// silent returns how long the work has printed nothing.
func (o *output) silent() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(o.heard)
}

// finish completes lines without an end, and logs what was left out.
func (o *output) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.out.end()
	o.err.end()
	if o.dropped > 0 {
		o.add(streamWeir, []byte(fmt.Sprintf("%d bytes of the log were left out", o.dropped)))
		o.dropped = 0
	}
	for _, l := range o.tail {
		o.add(l.stream, o.shortened(l.line, l.cut))
	}
	o.tail, o.tailSize = nil, 0
}

func (o *output) stdoutLine(line []byte, cut int64) {
	if !isProtocol(line) {
		o.keep(streamOut, line, cut)
		return
	}
	var said said
	err := errResultTooLarge
	if cut == 0 {
		said, err = parseLine(o.mask.Bytes(line))
	}
	switch {
	case err != nil:
		if errors.Is(err, errResultTooLarge) {
			o.result, o.broken = nil, err
		}
		o.keep(streamOut, line, cut)
		o.event("warn", err.Error())
	case said.result != nil:
		o.result, o.broken = said.result, nil
	case said.progress != nil:
		o.percent(*said.progress)
	case said.event != nil:
		o.event(said.event.level, pgtext.Text(said.event.message))
	}
}

func (o *output) stderrLine(line []byte, cut int64) {
	o.keep(streamErr, line, cut)
	line = o.masked(line, cut) // before the cut below, which could leave half a secret
	o.last = append(append(o.last, line[:min(len(line), lastMost)]...), '\n')
	if len(o.last) > lastMost {
		o.last = bytes.Clone(o.last[len(o.last)-lastMost:])
	}
}

// masked returns a line without secrets and, if the line was cut off, without the
// beginning of a secret at its end.
func (o *output) masked(line []byte, cut int64) []byte {
	if cut > 0 {
		return o.mask.Beginning(line)
	}
	return o.mask.Bytes(line)
}

// event writes an event, unless there were too many.
func (o *output) event(level, message string) {
	switch o.events++; {
	case o.events <= eventsMost:
		o.note(level, message)
	case o.events == eventsMost+1:
		o.note("warn", fmt.Sprintf("more than %d events: the rest is left out", eventsMost))
	}
}

// keep adds a line to the log. cut is how many bytes of it were not even read.
func (o *output) keep(stream string, line []byte, cut int64) {
	if o.kept >= logMost {
		o.wait(stream, line, cut)
		return
	}
	line = o.shortened(line, cut)
	o.kept += len(line) + 1
	o.add(stream, line)
	if o.kept >= logMost {
		o.add(streamWeir, []byte(fmt.Sprintf("the log is over %d MiB: of the rest only the end is kept", logMost>>20)))
	}
}

// shortened returns a line as the log has it: without secrets, and not too long.
func (o *output) shortened(line []byte, cut int64) []byte {
	line = o.masked(line, cut)
	if len(line) > lineMost {
		cut += int64(len(line) - lineMost)
		line = line[:lineMost]
	}
	if cut > 0 {
		line = append(bytes.Clone(line), fmt.Sprintf(" … (%d bytes cut)", cut)...)
	}
	return line
}

// wait holds a line until it is known whether it is among the last.
func (o *output) wait(stream string, line []byte, cut int64) {
	o.tail = append(o.tail, tailLine{stream, bytes.Clone(line), cut})
	o.tailSize += len(line) + 1
	for o.tailSize > tailMost {
		first := o.tail[0]
		o.dropped += int64(len(first.line)) + first.cut + 1
		o.tailSize -= len(first.line) + 1
		o.tail = o.tail[1:]
	}
}

// add adds a line to the log, regardless of the limit.
func (o *output) add(stream string, line []byte) {
	now := time.Now()
	text := joblog.Append(nil, joblog.Line{At: now.UTC(), Stream: stream, Text: pgtext.Text(string(line))})
	o.waiting += len(text)
	o.pending = append(o.pending, entry{text, now, o.takenOut + o.out.done, o.takenErr + o.err.done})
}

// take removes up to most bytes of whole lines from the log. The first line is taken
// whatever its length.
func (o *output) take(most int) []entry {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, size := 0, 0
	for n < len(o.pending) && (n == 0 || size+len(o.pending[n].text) <= most) {
		size += len(o.pending[n].text)
		n++
	}
	batch := o.pending[:n:n]
	o.pending = o.pending[n:]
	o.waiting -= size
	if len(o.pending) == 0 {
		o.pending = nil
	}
	return batch
}

// said returns the printed result, and why it cannot be used.
func (o *output) said() (json.RawMessage, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.result, o.broken
}

// lastWords returns the end of stderr.
func (o *output) lastWords() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return pgtext.Text(string(bytes.TrimSpace(o.last)))
}

// splitter makes lines of input that arrives in pieces. A line that is too long loses its
// end; a line with a result may be longer. Of a line that is written over by carriage
// returns, as progress bars are, the last state counts.
type splitter struct {
	line func(line []byte, cut int64)
	part []byte
	cut  int64 // bytes of this line that were dropped
	back bool  // the last byte was a carriage return
	read int64 // bytes since the beginning
	done int64 // bytes of whole lines since the beginning
}

var resultWord = []byte("::result ")

func (s *splitter) write(p []byte) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.append(p)
			s.read += int64(len(p))
			return
		}
		s.read += int64(i) + 1
		if len(s.part) == 0 && s.cut == 0 && i <= lineMost {
			s.done = s.read
			s.line(overwritten(p[:i]), 0)
		} else {
			s.append(p[:i])
			s.end()
		}
		p = p[i+1:]
	}
}

// overwritten returns what a terminal would show of a line: what stands behind its last
// carriage return, the line end not counted.
func overwritten(line []byte) []byte {
	line = bytes.TrimRight(line, "\r")
	return line[bytes.LastIndexByte(line, '\r')+1:]
}

func (s *splitter) append(p []byte) {
	if len(p) == 0 {
		return
	}
	if text := bytes.TrimRight(p, "\r"); len(text) > 0 {
		// At once and not at the end of the line, because a bar may move for hours before it ends.
		if last := bytes.LastIndexByte(text, '\r'); last >= 0 || s.back {
			s.part, s.cut, p = s.part[:0], 0, p[last+1:]
		}
	}
	s.back = p[len(p)-1] == '\r'
	most := lineMost + lineSlack
	if len(s.part) >= len(resultWord) && bytes.HasPrefix(s.part, resultWord) || len(s.part) == 0 && bytes.HasPrefix(p, resultWord) {
		most = resultMost + len(resultWord)
	}
	room := max(0, min(most-len(s.part), len(p)))
	s.part = append(s.part, p[:room]...)
	s.cut += int64(len(p) - room)
}

// end ends the current line, if there is one.
func (s *splitter) end() {
	s.done = s.read
	if len(s.part) > 0 || s.cut > 0 {
		s.line(overwritten(s.part), s.cut)
	}
	s.part, s.cut, s.back = s.part[:0], 0, false
}
