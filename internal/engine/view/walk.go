package view

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// condition is one of a query; %s in it stands for its value, if it has one.
type condition struct {
	format string
	value  any
}

// walk is a way through a table, newest first, that ends with the page or after
// so many rows. So a page of ten million tasks takes a bounded time, whatever it
// is asked for; it may be short and yet not the last.
type walk struct {
	// from is the table, called s, and id its id. order is what comes before the id
	// in the order of the index, if anything.
	from, id, order string
	// keys are what its index answers together with the order.
	keys []condition
	// rest is what each row is held against.
	rest []condition
	// also is what is looked up for each row: further items of FROM.
	also string
}

// key adds a condition that the index answers.
func (w *walk) key(format string, value any) { w.keys = append(w.keys, condition{format, value}) }

// hold adds a condition that each row is held against.
func (w *walk) hold(format string, value any) { w.rest = append(w.rest, condition{format, value}) }

// look adds a condition that is looked up for each row, in weir.tasks or in the
// table that also names. It is written as if that were s.
func (w *walk) look(format string, value any) {
	if w.also == "" {
		w.also = `, lateral (select * from weir.tasks q where q.id = s.walked offset 0) q`
	}
	w.hold("q"+strings.TrimPrefix(format, "s"), value)
}

// since ends the walk where older rows begin: ids sort by time.
func (w *walk) since(t time.Time) {
	if !t.IsZero() {
		w.key(w.id+" >= %s", lowest(t))
	}
}

// lowest is the least id that is made at a time: weir._id_at says the same.
func lowest(t time.Time) (id weir.ID) {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(t.UnixMilli(), 0))) // #nosec G115 -- never below zero
	copy(id[:6], ms[2:])
	return id
}

// ids walks on from the cursor of the page. next is where to go on, empty at the
// end of the table.
func (w *walk) ids(ctx context.Context, s *Store, op string, page Page) (ids []weir.ID, next string, err error) {
	if page.After != "" {
		after, err := weir.ParseID(page.After)
		if err != nil {
			return nil, "", refuse("after", "%s", err)
		}
		w.key(w.id+" < %s", after)
	}
	limit := page.Most() + 1 // one more tells whether there is another page
	most := limit
	switch {
	case len(w.rest) > 0 && w.also != "":
		most = s.lookUp
	case len(w.rest) > 0:
		most = s.look
	}
	var q query
	q.add(w.keys...)
	inner := fmt.Sprintf(`select s.*, %s as walked from %s s%s order by %s%s desc`, w.id, w.from, q.text(), w.order, w.id)
	keys := len(q.args)
	q.conditions = nil
	q.add(w.rest...)
	ids, err = inOrder(ctx, s, op, fmt.Sprintf(`select s.walked from (%s limit %d) s%s%s order by s.walked desc limit %d`, inner, most, w.also, q.text(), limit), q.args, idInto)
	switch {
	case err != nil:
		return nil, "", err
	case len(ids) == limit:
		return ids[:limit-1], ids[limit-2].String(), nil
	case len(w.rest) == 0:
		return ids, "", nil
	}
	last, err := inOrder(ctx, s, op, fmt.Sprintf(`select s.walked from (%s) s offset %d limit 1`, inner, most-1), q.args[:keys], idInto)
	if err == nil && len(last) > 0 {
		next = last[0].String()
	}
	return ids, next, err
}

func idInto(id *weir.ID) []any { return []any{id} }

// fewIDs are those that an index finds, if they are few. sql must have no LIMIT.
func (s *Store) fewIDs(ctx context.Context, op, sql string, args ...any) (ids []weir.ID, ok bool, err error) {
	ids, err = list(ctx, s, op, fmt.Sprintf(`%s limit %d`, sql, s.few+1), args, idInto)
	return ids, len(ids) <= s.few, err
}

// query collects conditions and their arguments.
type query struct {
	conditions []string
	args       []any
}

// where adds a condition; %s in it stands for v.
func (q *query) where(format string, v any) { q.add(condition{format, v}) }

func (q *query) add(conditions ...condition) {
	for _, c := range conditions {
		if strings.Contains(c.format, "%") {
			c.format = fmt.Sprintf(c.format, q.arg(c.value))
		}
		q.conditions = append(q.conditions, c.format)
	}
}

// arg adds an argument and returns its placeholder.
func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return fmt.Sprintf("$%d", len(q.args))
}

func (q *query) text() string {
	if len(q.conditions) == 0 {
		return ""
	}
	return " where " + strings.Join(q.conditions, " and ")
}
