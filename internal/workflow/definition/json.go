package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// jsonReader makes nodes of JSON. YAML reads most JSON too, but not all of it: half
// surrogates, long keys, exact places of faults.
type jsonReader struct {
	file    string
	source  []byte
	decoder *json.Decoder
	values  int
	// at is the place of the offset mark, which only moves forward.
	at   place
	mark int
}

func jsonTree(file string, source []byte) (root *node, faults Faults) {
	r := &jsonReader{file: file, source: source, decoder: json.NewDecoder(bytes.NewReader(source)), at: place{1, 1}}
	r.decoder.UseNumber()
	root, err := r.value(0)
	if err == nil {
		if _, err = r.decoder.Token(); errors.Is(err, io.EOF) {
			return root, nil
		}
		err = &Fault{What: "there is more after the end of the definition", Next: "one file holds one workflow", Line: -1}
	}
	return nil, Faults{r.fault(err)}
}

// Error lets a fault be passed as an error inside this package.
func (f *Fault) Error() string { return f.String() }

func (r *jsonReader) fault(err error) Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		f.File = r.file
		if f.Line <= 0 {
			at := placeOf(r.source, r.next())
			f.Line, f.Column = at.line, at.column
		}
		return *f
	}
	offset := len(bytes.TrimRight(r.source, " \t\r\n"))
	what := "it ends in the middle"
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && !strings.Contains(syntax.Error(), "unexpected end") {
		offset, what = int(syntax.Offset)-1, syntax.Error()
	}
	at := placeOf(r.source, max(offset, 0))
	return Fault{File: r.file, Line: at.line, Column: at.column, What: "this is not JSON: " + what, Next: "look for a missing comma, quote or bracket before this place"}
}

// next returns the offset of the next token: after spaces, commas and colons.
func (r *jsonReader) next() int {
	i := int(r.decoder.InputOffset())
	for i < len(r.source) && strings.IndexByte(" \t\r\n,:", r.source[i]) >= 0 {
		i++
	}
	return i
}

// here returns the place of the next token. It continues counting from the last one, so
// that a large document is not read once for each of its values.
func (r *jsonReader) here() place {
	offset := r.next()
	between := r.source[r.mark:offset]
	if last := bytes.LastIndexByte(between, '\n'); last >= 0 {
		r.at.line += bytes.Count(between, []byte("\n"))
		r.at.column = 1
		between = between[last+1:]
	}
	r.at.column += utf8.RuneCount(between)
	r.mark = offset
	return r.at
}

func (r *jsonReader) value(depth int) (*node, error) {
	n := &node{place: r.here()}
	if r.values++; r.values > maxValues {
		return nil, &Fault{Line: n.line, Column: n.column, What: fmt.Sprintf("the definition has more than %d values", maxValues), Next: "split it into sub-workflows"}
	}
	if depth > maxDepth {
		return nil, &Fault{Line: n.line, Column: n.column, What: fmt.Sprintf("lists and mappings lie more than %d deep in one another", maxDepth), Next: "flatten it"}
	}
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			n.kind = sequence
			return n, r.sequence(n, depth)
		}
		n.kind = mapping
		return n, r.mapping(n, depth)
	case string:
		n.kind, n.value = text, t
	case bool:
		n.kind, n.value = boolean, t
	case json.Number:
		n.kind = number
		if n.value, err = numeral(t.String()); err != nil {
			return nil, &Fault{Line: n.line, Column: n.column, What: err.Error(), Next: "write it as text, in quotes"}
		}
	}
	return n, nil
}

func (r *jsonReader) sequence(n *node, depth int) error {
	for r.decoder.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := r.decoder.Token()
	return err
}

func (r *jsonReader) mapping(n *node, depth int) error {
	seen := map[string]place{}
	for r.decoder.More() {
		at := r.here()
		token, err := r.decoder.Token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return &Fault{Line: at.line, Column: at.column, What: "a key must be text", Next: "put it in quotes"}
		}
		if first, ok := seen[key]; ok {
			return doubled(key, at, first)
		}
		seen[key] = at
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.fields = append(n.fields, field{key, at, value})
	}
	_, err := r.decoder.Token()
	return err
}

func doubled(key string, at, first place) *Fault {
	return &Fault{Line: at.line, Column: at.column, What: fmt.Sprintf("the key %q is here twice; first on line %d", key, first.line), Next: "keep one of the two"}
}

// numeral parses a number into an int64 or a float64. It refuses an integer that fits
// neither without loss, because the number would silently change.
func numeral(s string) (any, error) {
	n := json.Number(s)
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	f, err := n.Float64()
	switch {
	case err != nil || math.IsInf(f, 0):
		return nil, fmt.Errorf("the number %s is too large", s)
	case !strings.ContainsAny(s, ".eE"):
		return nil, fmt.Errorf("the number %s has more digits than fit", s)
	}
	return whole(f), nil
}

// whole makes an int64 of a number without a fraction: 3.0 and 3 are the same
// number in JSON.
func whole(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return f
}
