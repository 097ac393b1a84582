package rollout

import (
	"regexp"
	"slices"
	"strings"
)

// object begins the text of something in a snapshot. What follows, up to the next one,
// belongs to it: columns, the body of a function. A body that has such a line is cut
// there, always in the same way.
var object = regexp.MustCompile("^(?:CREATE(?: OR REPLACE)?(?: UNIQUE| CONSTRAINT| DEFINER=\\S+|(?: ALGORITHM=\\S+)? DEFINER=\\S+ SQL SECURITY \\w+)? \\w+|(?:partitioned |foreign |materialized )?(?:schema|extension|type|domain|sequence|table|constraint|view|aggregate|policy)) (?:`[^`]*`|\"[^\"]*\"|[^\\s(])+(?: on \\S+)?")

// part is one thing of a schema: its name with its kind, and its lines.
type part struct {
	name  string
	lines []string
}

func parts(text string) (list []part) {
	if text == "" {
		return nil
	}
	seen := map[string]int{}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		name := object.FindString(line)
		if name == "" && len(list) > 0 {
			last := &list[len(list)-1]
			last.lines = append(last.lines, line)
			continue
		}
		// Two of one name are told apart by their order.
		if seen[name]++; seen[name] > 1 {
			name += strings.Repeat("'", seen[name]-1)
		}
		list = append(list, part{name, []string{line}})
	}
	return list
}

func byName(list []part) map[string][]string {
	m := make(map[string][]string, len(list))
	for _, p := range list {
		m[p.name] = p.lines
	}
	return m
}

// merge puts the change from before to now into base, a schema that differs from
// before by what others did: that difference stays. Things that only one side touched
// are that side's. Of a table that both changed it is told column by column; anything
// else is written anew by whoever changes it. What others made and the run changed is
// theirs.
func merge(base, before, now string) []string {
	kept, was := byName(parts(base)), byName(parts(before))
	var out []part
	for _, p := range parts(now) {
		old, known := was[p.name]
		mine, has := kept[p.name]
		switch {
		case slices.Equal(old, p.lines) && known:
			if has { // untouched by the run
				out = append(out, part{p.name, mine})
			}
		case has && known && strings.Contains(strings.ToLower(p.name), "table "):
			out = append(out, part{p.name, mergeLines(mine, old, p.lines)})
		case has || !known: // it made it, or made it anew
			out = append(out, p)
		}
	}
	// What others removed before the run is still missed, in its place.
	held := byName(out)
	place := 0
	for _, p := range parts(base) {
		if _, there := held[p.name]; there {
			place = 1 + slices.IndexFunc(out, func(o part) bool { return o.name == p.name })
			continue
		}
		if _, dropped := was[p.name]; dropped {
			continue // by the run
		}
		out = slices.Insert(out, place, p)
		place++
	}
	var lines []string
	for _, p := range out {
		lines = append(lines, p.lines...)
	}
	return lines
}

// mergeLines puts the change from before to now into base, for the lines of one thing.
func mergeLines(base, before, now []string) []string {
	if slices.Equal(base, before) {
		return now
	}
	out := make([]string, 0, len(now))
	for _, line := range now {
		// Of what is there now, only that which others did not add.
		if slices.Contains(base, line) || !slices.Contains(before, line) {
			out = append(out, line)
		}
	}
	place := 0
	for _, line := range base {
		if i := slices.Index(out, line); i >= 0 {
			place = i + 1
			continue
		}
		if !slices.Contains(before, line) { // others removed it
			out = slices.Insert(out, place, line)
			place++
		}
	}
	return out
}
