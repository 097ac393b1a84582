package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/problem"
)

// ReadFile reads a file, or standard input if it is called -, but not more than so many bytes.
func ReadFile(path string, in io.Reader, most int64) ([]byte, error) {
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	return io.ReadAll(io.LimitReader(in, most))
}

// WriteNew writes a file that is not there yet. If it is, next and again say what to do instead.
func WriteNew(path, text, next, again string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) // #nosec G302 -- a file for the person who named it
	if errors.Is(err, fs.ErrExist) {
		return problem.New(problem.Conflict, next, "%s is there already", path).Run(again)
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// ReadTime reads an RFC 3339 time or a duration from now.
func ReadTime(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	d, err := app.ParseDuration(s)
	if err != nil || d == app.Forever {
		return time.Time{}, fmt.Errorf("%q is neither a time such as 2026-01-31T08:00:00Z nor a duration such as 10m", s)
	}
	return now.Add(d), nil
}

// ReadJSON reads JSON from the text itself, from @FILE, or from standard input.
func ReadJSON(text string, in io.Reader) (json.RawMessage, error) {
	var data []byte
	var err error
	switch {
	case text == "":
		return nil, nil
	case text == "-":
		data, err = io.ReadAll(in)
	case strings.HasPrefix(text, "@"):
		data, err = os.ReadFile(text[1:])
	default:
		data = []byte(text)
	}
	if err != nil {
		return nil, Invalid("", "params: %s", err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, Invalid(`quote it for the shell: --params '{"name": "you"}'`, "params are not JSON: %s", err)
	}
	return data, nil
}

// DefinitionMost is more than any definition has: what is longer is refused
// without being read to its end.
const DefinitionMost = 4 << 20

// ParamValue is what was typed for a param: JSON if it is that, else the text itself.
func ParamValue(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // a long number keeps its digits
	var v any
	if decoder.Decode(&v) != nil || decoder.More() || strings.TrimSpace(text[decoder.InputOffset():]) != "" {
		return text
	}
	return v
}
