package wake

import (
	"strings"
	"unicode"
)

// outputLimit is how many bytes of the output of a script or of an answer are kept.
const outputLimit = 4 << 10

// head keeps the beginning of what is written to it and drops the rest.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), outputLimit-len(h.text))]...)
	return len(p), nil
}

// clean makes foreign text fit for a line of the timeline.
func clean(text []byte) string {
	line := strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(text), "�"))
	return strings.TrimSpace(line)
}
