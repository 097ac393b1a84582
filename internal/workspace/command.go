package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Draft is a workspace to be made.
type Draft struct {
	Owner                              weir.ID
	Name, Provider, Image, Description string
	// Desired is where it goes first. Empty: RUNNING.
	Desired ladder.Phase
	// StandbyTTL and ArchiveTTL of zero are those of the policy.
	StandbyTTL, ArchiveTTL node.Span
	// Key makes it once: the same key of the same owner gives the same workspace.
	Key string
}

// Create makes a workspace. existed: it was there, made with the same key.
func (s *Store) Create(ctx context.Context, by string, d Draft) (id weir.ID, existed bool, err error) {
	if d.Desired == "" {
		d.Desired = ladder.Running
	}
	if id, existed, err = s.create(ctx, by, d); err != nil {
		return id, false, fmt.Errorf("create workspace: %w", refused(err))
	}
	return id, existed, nil
}

// Change says what is to be different. Nil stays as it is.
type Change struct {
	Name        *string  `json:"name,omitempty" maxLength:"40" doc:"Another name."`
	Description *string  `json:"description,omitempty" maxLength:"1000" doc:"What it is for."`
	Image       *string  `json:"image,omitempty" maxLength:"500" doc:"On docker: what runs from the next start on. Empty: the built-in one."`
	StandbyTTL  *op.Wait `json:"standby_ttl,omitempty" doc:"After how long without use it is stopped. 0s: as the policy says."`
	ArchiveTTL  *op.Wait `json:"archive_ttl,omitempty" doc:"After how long in standby it is archived. 0s: as the policy says."`
}

// Patch changes a workspace. It reports whether anything is different.
func (s *Store) Patch(ctx context.Context, id weir.ID, by string, c Change) (changed bool, err error) {
	fields := map[string]any{}
	if c.Name != nil {
		fields["name"] = *c.Name
	}
	if c.Description != nil {
		fields["description"] = *c.Description
	}
	if c.Image != nil {
		fields["image"] = *c.Image
	}
	put(fields, "standby_ttl", c.StandbyTTL)
	put(fields, "archive_ttl", c.ArchiveTTL)
	text, err := json.Marshal(fields)
	if err == nil {
		changed, err = s.patch(ctx, id, text, by)
	}
	if err != nil {
		return false, fmt.Errorf("change workspace: %w", err)
	}
	return changed, nil
}

// put writes a time as the database reads it; zero is null.
func put(fields map[string]any, name string, span *op.Wait) {
	switch {
	case span == nil:
	case *span == 0:
		fields[name] = nil
	default:
		fields[name] = fmt.Sprintf("%f s", time.Duration(*span).Seconds())
	}
}

// Want wants another phase of a workspace. It reports whether that is new. While an
// operation is under way nothing else can be wanted.
func (s *Store) Want(ctx context.Context, id weir.ID, want ladder.Phase, by, reason string) (changed bool, err error) {
	return s.WantFrom(ctx, id, "", want, by, reason)
}

// WantFrom is Want for somebody who looked before: if something else than expected is
// wanted by now, it changes nothing and is a conflict.
func (s *Store) WantFrom(ctx context.Context, id weir.ID, expected, want ladder.Phase, by, reason string) (changed bool, err error) {
	if changed, err = s.want(ctx, id, expected, want, by, reason); err != nil {
		return false, fmt.Errorf("want %s: %w", want, refused(err))
	}
	return changed, nil
}

// Delete wants it gone: container, then volume. Its archives go later, by the collector.
func (s *Store) Delete(ctx context.Context, id weir.ID, by, reason string) (changed bool, err error) {
	return s.Want(ctx, id, ladder.Deleted, by, reason)
}

// Recover clears an error. fresh gives up what is lost.
func (s *Store) Recover(ctx context.Context, id weir.ID, by, reason string, fresh bool) (changed bool, err error) {
	if changed, err = s.recover(ctx, id, by, reason, fresh, ""); err != nil {
		return false, fmt.Errorf("recover workspace: %w", err)
	}
	return changed, nil
}

// RecoverFrom clears an error and brings the home back from one of its archives,
// whatever came after that.
func (s *Store) RecoverFrom(ctx context.Context, id weir.ID, by, reason, archive string) (changed bool, err error) {
	if changed, err = s.recover(ctx, id, by, reason, false, archive); err != nil {
		return false, fmt.Errorf("recover workspace: %w", err)
	}
	return changed, nil
}

// Busy keeps a workspace from being stopped for so long, or as long as the policy allows
// after its last use. Zero gives that back. It says until when.
func (s *Store) Busy(ctx context.Context, id weir.ID, by string, lasts time.Duration, reason string) (until time.Time, err error) {
	if until, err = s.busy(ctx, id, by, lasts, reason); err != nil {
		return until, fmt.Errorf("keep workspace busy: %w", err)
	}
	return until, nil
}
