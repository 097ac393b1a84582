package view

import "context"

// Finding is one line of the doctor's report.
type Finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Level is invariant (must hold) or health (an operator should look).
	Level  string `json:"level"`
	Detail string `json:"detail,omitempty"`
}

// Doctor checks every invariant of the database. Deep reads all of the history
// instead of its newest part.
func (s *Store) Doctor(ctx context.Context, deep bool) ([]Finding, error) {
	return list(ctx, s, "doctor", `select d.name, d.ok, d.level, d.detail from weir.doctor($1) d`, []any{deep}, func(f *Finding) []any {
		return []any{&f.Name, &f.OK, &f.Level, (*maybe)(&f.Detail)}
	})
}
