package httpapi

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/refusal"
)

const (
	// bodyLimit is how many bytes a body may have; submitLimit that of tasks.
	bodyLimit, submitLimit = 1 << 20, 16 << 20
	// depthLimit is how deep JSON may be nested.
	depthLimit = 64
)

func (r *Route) bodyLimit() int64 {
	if r.how.limit > 0 {
		return r.how.limit
	}
	return bodyLimit
}

// readBody reads a body and refuses one that no route could use.
func readBody(w http.ResponseWriter, r *http.Request, limit int64, deadline time.Time) ([]byte, error) {
	// A client that sends a byte from time to time must not keep a handler busy. The
	// deadline is for the body alone, because a deadline that passes later would end the
	// request. Only the writers of tests have no deadlines.
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(deadline)
	tooLarge := problem.New(problem.TooLarge, "send less at once", "the body is over the limit of %d bytes", limit)
	if r.ContentLength > limit {
		return nil, tooLarge // refused before it is read, because reading it costs both sides
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err == nil {
		// On an error the deadline stays: the server reads on before it closes the
		// connection, and must not wait for bytes that do not come.
		_ = connection.SetReadDeadline(time.Time{})
	}
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, withStatus(http.StatusRequestTimeout, problem.New(problem.Invalid, "send it faster, or less of it", "the body did not arrive in time"))
	case err != nil:
		return nil, withStatus(http.StatusBadRequest, problem.New(problem.Invalid, "send it again", "the body did not arrive whole"))
	case len(body) == 0:
		return nil, nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, withStatus(http.StatusUnsupportedMediaType,
			problem.New(problem.Invalid, "send JSON with Content-Type: application/json", "a body of this type is not understood"))
	}
	return body, checkJSON(body)
}

// checkJSON refuses text that is not JSON, is nested too deep, or contains what
// PostgreSQL cannot store.
func checkJSON(body []byte) error {
	bad := func(format string, args ...any) error {
		return withStatus(http.StatusBadRequest, problem.New(problem.Invalid, "", format, args...))
	}
	if !utf8.Valid(body) {
		return bad("the body is not UTF-8")
	}
	depth, inText := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inText && c == '\\':
			if bytes.HasPrefix(body[i:], []byte(`\u0000`)) {
				return bad(`the body holds \u0000 at byte %d, which cannot be kept`, i)
			}
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			if depth++; depth > depthLimit {
				return bad("the body is nested deeper than %d levels", depthLimit)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	var syntax *json.SyntaxError
	var any json.RawMessage
	switch err := json.Unmarshal(body, &any); {
	case errors.As(err, &syntax):
		return bad("the body is not JSON: %s at byte %d", strings.TrimPrefix(syntax.Error(), "json: "), syntax.Offset)
	case err != nil:
		return bad("the body is not JSON")
	}
	return nil
}

// decode reads JSON into a value, and adds the field to an error.
func decode(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	var kind *json.UnmarshalTypeError
	var date *time.ParseError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return refusal.New(kind.Field, "expected %s, got %s", wanted(kind.Type), kind.Value)
	case errors.As(err, &date):
		err = errors.New("expected a time such as 2026-01-31T08:00:00Z")
	}
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "json: "), "weir: ")
	return refusal.New(place(data, reflect.TypeOf(into)), "%s", text)
}

// decodeInput is decode for huma, which keeps only the text of an error: the text is the
// refusal in the form that the database sends; see located.
func decodeInput(data []byte, into any) error {
	if r := new(refusal.Refusal); errors.As(decode(data, into), &r) {
		return errors.New(r.Detail())
	}
	return nil
}

// place finds where in JSON a type with its own decoder refused its part, which the
// decoder does not report: lease.task, outcomes[0].task. It returns "" for the whole
// value.
func place(data []byte, t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	refuses := func(part []byte, t reflect.Type) bool { return json.Unmarshal(part, reflect.New(t).Interface()) != nil }
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
	case t.Kind() == reflect.Slice:
		var parts []json.RawMessage
		_ = json.Unmarshal(data, &parts) // other values have no parts
		for i, part := range parts {
			if refuses(part, t.Elem()) {
				return joined(fmt.Sprintf("[%d]", i), place(part, t.Elem()))
			}
		}
	case t.Kind() == reflect.Struct:
		var parts map[string]json.RawMessage
		_ = json.Unmarshal(data, &parts)
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			part, ok := parts[name]
			switch {
			case f.Anonymous && name == "":
				if at := place(data, f.Type); at != "" {
					return at
				}
			case ok && refuses(part, f.Type):
				return joined(name, place(part, f.Type))
			}
		}
	}
	return ""
}

// joined joins a path and the path below it.
func joined(path, below string) string {
	if below == "" || strings.HasPrefix(below, "[") {
		return path + below
	}
	return path + "." + below
}

// wanted describes a Go type to the author of the JSON.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "fields with values"
	case reflect.Float64:
		return "a number that is not larger than 1.8e308"
	}
	return "a whole number in its range"
}
