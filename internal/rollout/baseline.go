package rollout

import (
	"context"
	"fmt"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// The schema that is kept of a database is the one that it should have: what Weir
// changes goes into it, what others change is drift. Once there is drift it stays as
// it is but for the changes of Weir, until a person accepts another.

// compareBaseline looks whether the schema is the one that is kept: before the first change of
// a rollout, and before a retry, for people mend things by hand. It keeps nobody from
// running.
func (e *executor) compareBaseline(ctx context.Context, t target.Target, l lease, o *order) {
	if o.base == "" || !o.first && l.attempt == 1 && !o.drifted {
		return
	}
	if id, err := t.Identity(ctx); err != nil || id.String() != o.identity {
		return // the run itself says what is wrong
	}
	now, err := t.Snapshot(ctx)
	if err != nil {
		e.log.Warn("the schema of a database could not be compared", "database", o.database, "error", err)
		return
	}
	o.before = &now
	if o.drifted || now.Hash == o.base {
		return
	}
	if o.drifted, err = e.putBase(ctx, o.database, keeping{hash: now.Hash, by: "executor", drifted: true, follows: o.base}); err != nil {
		e.log.Warn("the drift of a database could not be written down", "database", o.database, "error", err)
	}
}

// keepBaseline writes the schema down after a run that changed it.
func (e *executor) keepBaseline(ctx context.Context, o *order) {
	if o.change.Kind == string(script.Data) {
		return
	}
	t, err := e.connectWith(ctx, o.engine, o.secret, e.options)
	if err == nil {
		defer t.Close()
		err = e.saveBaseline(ctx, t, o.database, o.rollout.String(), o.before)
	}
	if err != nil {
		e.log.Warn("the schema of a database could not be written down", "database", o.database, "error", err)
	}
}

// renewBaseline is keepBaseline for a run whose end somebody else found out.
func (s *Store) renewBaseline(ctx context.Context, t target.Target, m mystery) {
	if m.change.Kind == string(script.Data) {
		return
	}
	if err := s.saveBaseline(ctx, t, m.database, m.rollout.String(), nil); err != nil {
		s.log.Warn("the schema of a database could not be written down", "database", m.database, "error", err)
	}
}

// saveBaseline keeps the schema as it is. Of a database that drifted it keeps the change from
// before to now on top of what was kept.
func (s *Store) saveBaseline(ctx context.Context, t target.Target, database, rollout string, before *target.Snapshot) error {
	now, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	by := "rollout " + rollout
	changed, err := s.putBase(ctx, database, keeping{hash: now.Hash, text: now.Text, by: by})
	if err != nil || changed {
		return err
	}
	if before != nil && before.Hash == now.Hash {
		return nil
	}
	was, err := s.base(ctx, database)
	if err != nil {
		return err
	}
	if before != nil {
		merged := target.SnapshotOf(merge(was.text, before.Text, now.Text))
		if changed, err = s.putBase(ctx, database, keeping{hash: merged.Hash, text: merged.Text, by: by, follows: was.hash}); err != nil || changed {
			return err
		}
	}
	_, err = s.putBase(ctx, database, keeping{mixed: fmt.Sprintf("%s changed the schema when it had drifted, and nobody saw it just before: its changes are part of the difference", by)})
	return err
}
