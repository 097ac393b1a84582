package rollout

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/rollout/target"
)

// DriftReport compares the schema of a database with the one that was last accepted.
type DriftReport struct {
	Database string `json:"database"`
	// Drifted: the schema is not what was accepted. Without a base it never is.
	Drifted bool `json:"drifted"`
	// Base is when the schema to compare with was written down, and by whom: an
	// executor after a change, or a person. Nil: never.
	Base   *time.Time `json:"base,omitempty"`
	BaseBy string     `json:"base_by,omitempty"`
	// Diff has the lines that differ, in the form of diff -u. Note says what else than
	// the work of others it may show; empty: nothing.
	Diff string `json:"diff,omitempty"`
	Note string `json:"note,omitempty"`
	Hash string `json:"hash"`
}

// noteBusy is the note of a difference that is seen while Weir itself is at work.
const noteBusy = "a run of a rollout goes on there, or nobody knows yet how one ended: what it changed is part of the difference, and the database is not marked as drifted"

// looks bounds how often a schema is read again because a run ended meanwhile.
const looks = 3

// Drift compares the schema as it is with the one that was last accepted. What it
// finds is what the database is marked with: drifted, or not any more.
func (s *Store) Drift(ctx context.Context, name string) (DriftReport, error) {
	report, now, was, err := s.drift(ctx, name)
	if err != nil || was.hash == "" || was.busy || was.drifted == report.Drifted {
		return report, err
	}
	if _, err := s.putBase(ctx, name, keeping{hash: now.Hash, by: "drift check", drifted: true, follows: was.hash}); err != nil {
		return report, fmt.Errorf("mark drift: %w", err)
	}
	return report, nil
}

// AcceptDrift makes the schema as it is the one to compare with.
func (s *Store) AcceptDrift(ctx context.Context, by, name string) (DriftReport, error) {
	report, now, _, err := s.drift(ctx, name)
	if err != nil {
		return report, err
	}
	if _, err := s.putBase(ctx, name, keeping{hash: now.Hash, text: now.Text, by: by, accept: true}); err != nil {
		return report, fmt.Errorf("accept drift: %w", err)
	}
	return report, nil
}

// drift compares, and gives the schema as it is and the one that is kept. A run that
// ends between the two looks would be taken for drift, so both are of one time.
func (s *Store) drift(ctx context.Context, name string) (report DriftReport, now target.Snapshot, was base, err error) {
	report.Database = name
	err = s.with(ctx, name, func(t target.Target) error {
		if err := s.recognise(ctx, t, name); err != nil {
			return err
		}
		for range looks {
			before, err := s.base(ctx, name)
			if err != nil {
				return fmt.Errorf("read snapshot: %w", err)
			}
			if now, err = t.Snapshot(ctx); err != nil {
				return err
			}
			if was, err = s.base(ctx, name); err != nil {
				return fmt.Errorf("read snapshot: %w", err)
			}
			was.busy = was.busy || before.busy
			if was.hash == before.hash {
				break
			}
		}
		return nil
	})
	report.Hash = now.Hash
	if err != nil || was.hash == "" {
		return report, now, was, err
	}
	report.Base, report.BaseBy = &was.at, was.by
	if report.Drifted = was.hash != now.Hash; report.Drifted {
		report.Diff = diff(strings.Split(was.text, "\n"), strings.Split(now.Text, "\n"))
		report.Note = was.mixed
		if was.busy {
			report.Note = noteBusy
		}
	}
	return report, now, was, nil
}
