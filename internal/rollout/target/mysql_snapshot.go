package target

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// counter is the next number of a table: it changes with every row.
var counter = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// snapshot is what the server writes for each thing in the database, in the
// order of kinds and names.
func (s *mySession) snapshot(ctx context.Context) (Snapshot, error) {
	var lines []string
	for _, kind := range []struct{ names, show, column string }{
		{`select table_name from information_schema.tables where table_schema = database() and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
			and table_name not in ('weir_history', 'weir_steps', 'weir_fence')`, "show create table ", "create table"},
		{`select table_name from information_schema.tables where table_schema = database() and table_type = 'SEQUENCE'`, "show create table ", "create table"},
		{`select table_name from information_schema.views where table_schema = database()`, "show create view ", "create view"},
		{`select routine_name from information_schema.routines where routine_schema = database() and routine_type = 'FUNCTION'`, "show create function ", "create function"},
		{`select routine_name from information_schema.routines where routine_schema = database() and routine_type = 'PROCEDURE'`, "show create procedure ", "create procedure"},
		{`select trigger_name from information_schema.triggers where trigger_schema = database()`, "show create trigger ", "sql original statement"},
		{`select event_name from information_schema.events where event_schema = database()`, "show create event ", "create event"},
	} {
		var names []string
		err := s.query(ctx, kind.names, nil, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			names = append(names, name)
			return err
		})
		if err != nil {
			return Snapshot{}, read(s.m, "read the schema", err)
		}
		slices.Sort(names)
		for _, name := range names {
			text, err := s.show(ctx, kind.show+"`"+strings.ReplaceAll(name, "`", "``")+"`", kind.column)
			if err != nil {
				return Snapshot{}, read(s.m, "read the schema", err)
			}
			lines = append(lines, counter.ReplaceAllString(text, "")+";")
		}
	}
	return SnapshotOf(lines), nil
}

// show is one column of what SHOW CREATE answers: others hold settings of the
// session.
func (s *mySession) show(ctx context.Context, statement, column string) (string, error) {
	rows, err := s.conn.QueryContext(ctx, statement)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var text string
	for rows.Next() {
		into := make([]any, len(columns))
		for i, name := range columns {
			into[i] = new(any)
			if strings.EqualFold(name, column) {
				into[i] = &text
			}
		}
		if err := rows.Scan(into...); err != nil {
			return "", err
		}
	}
	return text, rows.Err()
}
