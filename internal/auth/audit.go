package auth

import (
	"context"
	"fmt"
	"slices"
)

// private are the kinds of events that only those see who may read the audit: who may do
// what, and what becomes of workspaces, which are their owners'.
var private = []string{"auth", "workspace"}

// PrivateKinds are the kinds of events that only those see who may read the audit.
func PrivateKinds() []string { return slices.Clone(private) }

// Private says that events of a kind are only for those who may read the audit.
func Private(kind string) bool { return slices.Contains(private, kind) }

// event is a line of the timeline about who may do what. None holds a secret.
type event struct {
	by      Subject
	typ     string
	subject string // the name it is about
	level   string // empty: info
	message string
	data    map[string]any
}

// note writes an event. It runs in the transaction of what it tells about.
func (s *Store) note(ctx context.Context, db querier, e event) error {
	if e.data == nil {
		e.data = map[string]any{}
	}
	_, err := db.Exec(ctx, `
		insert into weir.events (at, type, kind, subject, source, level, message, data)
		values (coalesce($1, clock_timestamp()), $2, 'auth', nullif($3, ''), $4, nullif($5, ''), weir._text(nullif($6, '')), nullif($7::jsonb, '{}'))`,
		s.clock(), e.typ, e.subject, e.by.By(), e.level, e.message, e.data)
	if err != nil {
		return fmt.Errorf("note %s: %w", e.typ, err)
	}
	return nil
}

// Audit adds to the timeline what somebody did with their rights, such as an
// override. Only admins see events of the kind "auth". Give no secret.
func (s *Store) Audit(ctx context.Context, by Subject, typ, message string, data map[string]any) error {
	return s.note(ctx, s.pool, event{by: by, typ: typ, subject: by.Name, message: message, data: data})
}
