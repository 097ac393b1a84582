package mutate

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// guardForms matches guards that can be recognized by their form, in the SQL.
var guardForms = regexp.MustCompile(`\.token = |\bfor (no key )?update\b|\bfor (key )?share\b|pg_(try_)?advisory_xact_lock|create unique index|pg_snapshot_xmin|\bfenced\.epoch\b`)

// spare are guards whose promise another guard with a row keeps as well, so no test can
// notice that they are gone. They stay, each for the reason beside it. The keys are the
// file and the text of the guard.
var spare = map[string]map[string]string{
	"schema/migrations/0011_fleets.sql": {
		`create unique index fleet_active on weir.fleet_jobs ((true)) where state = 'active';`: "0031 replaces it by one for each lane",
	},
	"schema/functions/fleet/_fleet_report_device.sql": {
		`perform from weir.devices x where x.id = d.id for update;`: "_device_seen wants its rows held by who calls it; here the lock of the PC, taken above, keeps all others away who move a device",
	},
}

// Uncovered returns the guards of a known form in a file of the schema that no row takes
// out, as "file:line: text".
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
		begin := offset
		offset += len(line)
		code, _, _ := strings.Cut(line, "--")
		// The text of a refusal is not a guard.
		if strings.HasPrefix(line, "comment on") || strings.HasPrefix(strings.TrimSpace(code), "jsonb_build_array(") || spare[file][strings.TrimSpace(code)] != "" {
			continue
		}
		for _, at := range guardForms.FindAllStringIndex(code, -1) {
			if !slices.ContainsFunc(Rows(), func(r Row) bool { return r.File == file && r.takesOut(text, begin+at[0], begin+at[1]) }) {
				out = append(out, fmt.Sprintf("%s:%d: %s", file, number, strings.TrimSpace(line)))
			}
		}
	}
	return out, nil
}

// takesOut reports whether the row takes out the guard in the text from begin to end, or
// removes its "skip locked", so that it waits.
func (r Row) takesOut(text string, begin, end int) bool {
	at := strings.Index(text, r.Old)
	if at < 0 || begin < at || end > at+len(r.Old) {
		return false
	}
	fewer := func(words string) bool { return strings.Count(r.Old, words) > strings.Count(r.New, words) }
	return fewer(text[begin:end]) || fewer("skip locked")
}
