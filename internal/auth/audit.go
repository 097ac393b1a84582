package auth

import (
	"context"
	"fmt"
	"slices"
)

// private lists the kinds of events that are visible only to subjects who may read the
// audit: changes of rights, and events of workspaces, which belong to their owners.
var private = []string{"auth", "workspace"}

// PrivateKinds returns the kinds of events that are visible only to subjects who may read
// the audit.
func PrivateKinds() []string { return slices.Clone(private) }

// Private reports whether events of a kind are only for subjects who may read the audit.
func Private(kind string) bool { return slices.Contains(private, kind) }

// event is a line of the timeline about identities and rights. No event holds a secret.
type event struct {
	by      Subject
	typ     string
	subject string // the name of the user, token or node it is about
	level   string // empty: info
	message string
	data    map[string]any
}

// note writes an event. It runs in the transaction of the change that it records.
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

// Audit records in the timeline how a subject used its rights, such as an override. Only
// admins see events of the kind "auth". The data must not contain a secret.
func (s *Store) Audit(ctx context.Context, by Subject, typ, message string, data map[string]any) error {
	return s.note(ctx, s.pool, event{by: by, typ: typ, subject: by.Name, message: message, data: data})
}
