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

// The streams. What a task prints is one of the first two.
const (
	Stdout = "stdout"
	Stderr = "stderr"
	// Weir is what we say about a log: that something is missing or was cut.
	Weir = "weir"
	// Raw is a line that is no line of a log.
	Raw = "raw"
)

// Line is one line of a log, without its line break.
type Line struct {
	At     time.Time `json:"at"`
	Stream string    `json:"stream"`
	Text   string    `json:"text"`
	// Place is where to go on behind this line. It is not stored.
	Place Place `json:"-"`
}

// Append adds a line to a chunk. What is not UTF-8 is replaced.
func Append(chunk []byte, l Line) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(l) // it has a form in JSON, and ends in a line break
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

// String is the form for a URL: 3.17.
func (p Place) String() string { return fmt.Sprintf("%d.%d", p.Chunk, p.Line) }

// ParsePlace reads what String has made. An empty text is the beginning.
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
