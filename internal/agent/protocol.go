package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/pgtext"
)

const (
	// resultMost is the largest size of a result in bytes.
	resultMost = 1 << 20
	// messageMost is how long the message of an event may be.
	messageMost = 4 << 10
)

// errResultTooLarge fails the attempt instead of only being logged, because a step that
// needs the result would go wrong without it.
var errResultTooLarge = fmt.Errorf("the result has more than %d bytes: write it to a file in WEIR_OUT instead", resultMost)

// said is the content of one line of the protocol; one of its fields is set.
type said struct {
	progress *float64
	result   json.RawMessage
	event    *happened
}

// happened is an event that the work reported.
type happened struct{ level, message string }

// isProtocol reports whether a line belongs to the protocol and not to the log.
func isProtocol(line []byte) bool { return bytes.HasPrefix(line, []byte("::")) }

// parseLine reads a line of the protocol. For a line that only begins like one it returns
// an error that says why.
func parseLine(line []byte) (said, error) {
	word, rest, _ := bytes.Cut(line[2:], []byte(" "))
	rest = bytes.TrimSpace(rest)
	switch string(word) {
	case "progress":
		text := strings.TrimSuffix(string(rest), "%")
		percent, err := strconv.ParseFloat(text, 64)
		if err != nil || percent != percent || percent < 0 || percent > 100 {
			return said{}, errors.New("::progress wants a number from 0 to 100")
		}
		return said{progress: &percent}, nil
	case "result":
		if len(rest) > resultMost {
			return said{}, errResultTooLarge
		}
		rest = pgtext.JSON(rest)
		if !json.Valid(rest) {
			return said{}, errors.New("::result wants JSON")
		}
		return said{result: bytes.Clone(rest)}, nil
	case "event":
		level, message, _ := strings.Cut(string(rest), " ")
		switch level {
		case "debug", "info", "warn", "error":
		default:
			return said{}, errors.New("::event wants a level (debug, info, warn, error) and a message")
		}
		message = pgtext.Cut(strings.TrimSpace(message), messageMost)
		return said{event: &happened{level, message}}, nil
	}
	return said{}, fmt.Errorf("there is no ::%s: progress, result and event are what the agent understands", pgtext.Cut(string(word), 40))
}
