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
	// Diff has the lines that differ, in the form of diff -u.
	Diff string `json:"diff,omitempty"`
	Hash string `json:"hash"`
}

// Drift compares the schema as it is with the one that was last accepted.
func (s *Store) Drift(ctx context.Context, name string) (DriftReport, error) {
	report, _, err := s.drift(ctx, name)
	return report, err
}

// AcceptDrift makes the schema as it is the one to compare with.
func (s *Store) AcceptDrift(ctx context.Context, by, name string) (DriftReport, error) {
	report, now, err := s.drift(ctx, name)
	if err != nil {
		return report, err
	}
	if err := s.putBase(ctx, name, now.Hash, now.Text, by, false, true); err != nil {
		return report, fmt.Errorf("accept drift: %w", err)
	}
	return report, nil
}

// drift compares, and gives the schema as it is.
func (s *Store) drift(ctx context.Context, name string) (DriftReport, target.Snapshot, error) {
	var now target.Snapshot
	err := s.with(ctx, name, func(t target.Target) (err error) {
		now, err = t.Snapshot(ctx)
		return err
	})
	report := DriftReport{Database: name, Hash: now.Hash}
	if err != nil {
		return report, now, err
	}
	was, err := s.base(ctx, name)
	if err != nil {
		return report, now, fmt.Errorf("read snapshot: %w", err)
	}
	if was.hash == "" {
		return report, now, nil
	}
	report.Base, report.BaseBy = &was.at, was.by
	if report.Drifted = was.hash != now.Hash; report.Drifted {
		report.Diff = diff(strings.Split(was.text, "\n"), strings.Split(now.Text, "\n"))
	}
	return report, now, nil
}
