package picture

import "time"

// critical is the rows that decided when the job ended, last first: the row
// that ended last, the need that it waited for longest, and so on. It is empty
// when no row needed another.
func (t *timetable) critical() []int {
	last := -1
	for i := range t.Rows {
		if len(t.Rows[i].Bars) > 0 && (last < 0 || t.end(i).After(t.end(last))) {
			last = i
		}
	}
	var path []int
	seen := map[int]bool{}
	for at := last; at >= 0 && !seen[at]; {
		seen[at] = true
		path = append(path, at)
		next := -1
		for _, n := range t.Rows[at].Needs {
			if n < 0 || n >= len(t.Rows) || len(t.Rows[n].Bars) == 0 {
				continue
			}
			if next < 0 || t.end(n).After(t.end(next)) {
				next = n
			}
		}
		at = next
	}
	if len(path) < 2 {
		return nil
	}
	return path
}

// end is when the last attempt of a row ended, or now.
func (t *timetable) end(i int) time.Time {
	bars := t.Rows[i].Bars
	if len(bars) == 0 {
		return time.Time{}
	}
	return t.until(bars[len(bars)-1])
}
