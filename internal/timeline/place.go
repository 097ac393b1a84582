package timeline

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// wholeRow is the line of a place behind a whole row, however many lines it has. No row
// has that many.
const wholeRow = math.MaxInt32

// place is a point of the timeline: behind the given line of the row
// (xid, seq), or behind the whole row.
//
//	row 700.12, three lines      ┌ 1 ┬ 2 ┬ 3 ┐
//	cursor                   700.12+1 +2   700.12
type place struct {
	xid, seq int64
	line     int
}

// beginning is the place before the first event that is kept.
var beginning = place{line: wholeRow}

// tailOf returns the place behind everything older than the oldest running transaction.
func tailOf(horizon int64) place {
	return place{xid: horizon - 1, seq: math.MaxInt64, line: wholeRow}
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.xid, q.xid), cmp.Compare(p.seq, q.seq), cmp.Compare(p.line, q.line))
}

func (p place) before(q place) bool { return p.compare(q) < 0 }

// foreign reports whether the place belongs to another cluster, which the database left
// at since: rows that were written here have higher numbers.
func (p place) foreign(since place) bool { return p.xid > since.xid && p.seq < since.seq }

// cursor returns the place as text.
func (p place) cursor() weir.Cursor {
	b := make([]byte, 0, 40)
	b = strconv.AppendInt(b, p.xid, 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, p.seq, 10)
	if p.line != wholeRow {
		b = append(b, '+')
		b = strconv.AppendInt(b, int64(p.line), 10)
	}
	return weir.Cursor(b)
}

// parsePlace reads a cursor. It accepts only the form that [place.cursor] writes.
func parsePlace(c weir.Cursor) (place, error) {
	xid, rest, dot := strings.Cut(string(c), ".")
	seq, line, plus := strings.Cut(rest, "+")
	p := place{line: wholeRow}
	var good [3]bool
	p.xid, good[0] = number(xid, math.MaxInt64)
	p.seq, good[1] = number(seq, math.MaxInt64)
	good[2] = true
	if plus {
		n, ok := number(line, wholeRow-1)
		p.line, good[2] = int(n), ok && n > 0
	}
	if !dot || good != [3]bool{true, true, true} {
		return place{}, problem.Refuse("after", "leave it out for what comes next, give 0.0 for everything that is kept, or the id of an event that was received",
			"%q is not a place in the timeline", clip(string(c)))
	}
	return p, nil
}

// number reads digits without sign, space or leading zero.
func number(s string, most int64) (int64, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n <= most
}

// clip keeps a refusal short, whatever was sent.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
