package http

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	nethttp "net/http"
	"strings"

	"github.com/weirhq/weir/internal/agent/driver"
)

// read reads the answer of a service that did the work.
func (c *call) read(answer *nethttp.Response) driver.Exit {
	a := &reading{out: c.out.Stdout(), limit: c.driver.cfg.MaxResult, lines: inLines(answer.Header.Get("Content-Type"))}
	if err := a.all(answer.Body); err != nil {
		return c.broken(err)
	}
	result, err := a.result()
	if err != nil {
		return driver.Exit{Code: 1, Reason: err.Error()}
	}
	return driver.Exit{Result: result}
}

// inLines reports whether the answer is lines of text instead of one document.
func inLines(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	switch kind {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/json-seq":
		return true
	}
	return strings.HasPrefix(kind, "text/")
}

// reading splits an answer into lines to pass on and the result.
type reading struct {
	out   io.Writer
	limit int64
	lines bool

	// kept is the document, or the line that is being read.
	kept bytes.Buffer
	// huge is set when kept exceeds the limit. The rest is still read, because the line
	// protocol in it may contain the result.
	huge bool
	// object is the last line that was a JSON object.
	object json.RawMessage
}

// all reads to the end. Lines are passed on as they arrive, long ones in pieces, because
// the agent handles those.
func (a *reading) all(body io.Reader) error {
	r := bufio.NewReaderSize(body, 64<<10)
	begins, command := true, false
	for {
		piece, err := r.ReadSlice('\n')
		if begins {
			command = bytes.HasPrefix(piece, []byte("::"))
		}
		if a.lines || command {
			_, _ = a.out.Write(piece) // an Output never fails
		}
		if !command {
			a.keep(piece)
		}
		begins = err == nil
		if begins {
			a.endLine()
		}
		switch {
		case errors.Is(err, io.EOF):
			if (a.lines || command) && len(piece) > 0 {
				_, _ = a.out.Write([]byte("\n")) // the last line may lack its newline
			}
			a.endLine()
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

func (a *reading) keep(piece []byte) {
	if int64(a.kept.Len()+len(piece)) > a.limit {
		a.huge = true
		a.kept.Reset()
	}
	if !a.huge {
		a.kept.Write(piece)
	}
}

// endLine handles the line that was read, if the answer is in lines.
func (a *reading) endLine() {
	if !a.lines {
		return
	}
	text := bytes.TrimSpace(a.kept.Bytes())
	if !a.huge && len(text) > 0 && text[0] == '{' && json.Valid(text) {
		a.object = bytes.Clone(text)
	}
	a.kept.Reset()
	a.huge = false
}

// result returns the JSON of the answer, or nil if there is none.
func (a *reading) result() (json.RawMessage, error) {
	text := bytes.TrimSpace(a.kept.Bytes())
	switch {
	case a.lines:
		return a.object, nil
	case a.huge:
		return nil, fmt.Errorf("the answer of the service is larger than %d bytes", a.limit)
	case len(text) == 0:
		return nil, nil
	case !json.Valid(text):
		return nil, fmt.Errorf("the answer of the service is no JSON: it begins with %.40q", text)
	}
	return bytes.Clone(text), nil
}
