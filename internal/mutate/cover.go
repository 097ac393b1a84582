package mutate

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// guardForms are guards that can be told by how they are written, in the SQL.
var guardForms = regexp.MustCompile(`\.token = |\bfor (no key )?update\b|\bfor (key )?share\b|pg_(try_)?advisory_xact_lock|create unique index|pg_snapshot_xmin|\bfenced\.epoch\b`)

// Uncovered are the lines of a file of the schema that have a guard of a known
// form and no row, as "file:line: text".
func Uncovered(root, file string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(root, file)) // #nosec G304 -- a file of the schema
	if err != nil {
		return nil, err
	}
	text := string(data)
	var out []string
	offset, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		begin, end := offset, offset+len(line)
		offset = end
		code, _, _ := strings.Cut(line, "--")
		if strings.HasPrefix(line, "comment on") || !guardForms.MatchString(code) {
			continue
		}
		covered := slices.ContainsFunc(Rows(), func(r Row) bool {
			at := strings.Index(text, r.Old)
			return r.File == file && at >= 0 && at < end && at+len(r.Old) > begin
		})
		if !covered {
			out = append(out, fmt.Sprintf("%s:%d: %s", file, number, strings.TrimSpace(line)))
		}
	}
	return out, nil
}
