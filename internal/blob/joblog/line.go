package joblog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// The streams. The output of a task is one of the first two.
const (
	Stdout = "stdout"
	Stderr = "stderr"
	// Setup and Cleanup mark the output of the commands before and after work on a
	// device, and Power that of a set-up which switches the device off and on.
	Setup, Cleanup, Power = "setup", "cleanup", "power"
	// Weir marks remarks of Weir about a log: that something is missing or was cut.
	Weir = "weir"
	// Raw marks a line that is not a valid line of a log.
	Raw = "raw"
)

// Line is one line of a log, without its line break.
type Line struct {
	At     time.Time `json:"at"`
	Stream string    `json:"stream"`
	Text   string    `json:"text"`
	// Place is where to continue behind this line. It is not stored.
	Place Place `json:"-"`
}

// Append adds a line to a chunk. Bytes that are not UTF-8 are replaced.
func Append(chunk []byte, l Line) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(l) // a Line always encodes, and ends in a line break
	return append(chunk, b.Bytes()...)
}

// parse reads a line of a chunk.
func parse(text []byte) Line {
	var l Line
	if err := json.Unmarshal(text, &l); err != nil || l.Stream == "" {
		return Line{Stream: Raw, Text: strings.ToValidUTF8(string(text), "\uFFFD")}
	}
	return l
}

// Place is a place in a log: behind the line number Line of the chunk number
// Chunk. The zero value is the beginning.
type Place struct{ Chunk, Line int }

// Before reports whether a line lies in front of another one.
func (p Place) Before(q Place) bool {
	return p.Chunk < q.Chunk || p.Chunk == q.Chunk && p.Line < q.Line
}

// String returns the form for a URL: 3.17.
func (p Place) String() string { return fmt.Sprintf("%d.%d", p.Chunk, p.Line) }

// ParsePlace reads the form that String writes. An empty text is the beginning.
func ParsePlace(text string) (Place, error) {
	if text == "" {
		return Place{}, nil
	}
	chunk, line, ok := strings.Cut(text, ".")
	c, err := strconv.Atoi(chunk)
	l, err2 := strconv.Atoi(line)
	if !ok || err != nil || err2 != nil || c < 0 || l < 0 {
		return Place{}, problem.Refuse("after", "leave it out for the beginning, or give the place of the last line you have", "%.40q is no place in a log", text)
	}
	return Place{c, l}, nil
}
