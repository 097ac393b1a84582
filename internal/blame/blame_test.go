package blame_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/blame"
)

// Every SQLSTATE that a worker meets in ordinary operation is attributed to one party.
// Only errors of the value may cost a task its result.
func TestParties(t *testing.T) {
	for _, c := range []struct {
		code   string
		party  blame.Party
		oneRow bool
	}{
		{"22P02", blame.Value, true},
		{"22003", blame.Value, true},
		{"22008", blame.Value, true},
		{"23505", blame.Value, true},
		{"23514", blame.Value, true},
		{"54000", blame.Value, true},
		{"WR422", blame.Value, true},
		{"WR404", blame.State, true},
		{"WR409", blame.State, true},
		{"WR410", blame.State, true},
		{"08006", blame.Passing, false},
		{"53100", blame.Passing, false},
		{"53300", blame.Passing, false},
		{"57P01", blame.Passing, false},
		{"57P03", blame.Passing, false},
		{"57014", blame.Passing, true},
		{"40P01", blame.Passing, true},
		{"40001", blame.Passing, true},
		{"55P03", blame.Passing, true},
		{"25006", blame.Passing, false},
		{"26000", blame.Passing, false},
		{"42P05", blame.Passing, false},
		{"58030", blame.Passing, false},
		{"42883", blame.Setup, true},
		{"42501", blame.Setup, true},
		{"42P01", blame.Setup, true},
		{"0A000", blame.Setup, true},
		{"P0001", blame.Setup, true},
		{"XX000", blame.Setup, true},
		{"21000", blame.Setup, true},
		{"", blame.Setup, true},
		{"2", blame.Setup, true},
	} {
		err := fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: c.code})
		if got := blame.Of(err); got != c.party {
			t.Errorf("%s: party %d, want %d", c.code, got, c.party)
		}
		if got := blame.OneRow(err); got != c.oneRow {
			t.Errorf("%s: may be about one row: %v", c.code, got)
		}
		if got := blame.Transient(err); got != (c.party == blame.Passing) {
			t.Errorf("%s: transient: %v", c.code, got)
		}
	}
}

func TestErrorsWithoutState(t *testing.T) {
	if blame.Of(nil) != blame.Nobody || blame.Of(io.EOF) != blame.Passing || blame.OneRow(io.EOF) {
		t.Error("an error of the connection passes, and concerns everything on it")
	}
	if !blame.Transient(context.DeadlineExceeded) || blame.Transient(fmt.Errorf("x: %w", context.Canceled)) {
		t.Error("a call that took too long is repeated, one that was broken off is not")
	}
	if blame.NotDone(io.EOF) || blame.NotDone(&pgconn.PgError{Code: "57P01", SeverityUnlocalized: "FATAL"}) || !blame.NotDone(&pgconn.PgError{Code: "42883", SeverityUnlocalized: "ERROR"}) {
		t.Error("a session that ended may have done its work before")
	}
	if !blame.Denied(&pgconn.PgError{Code: "42501"}) || blame.Denied(errors.New("x")) || !blame.Pooled(&pgconn.PgError{Code: "26000"}) {
		t.Error("rights and poolers have their states")
	}
}

// A call that must not happen twice may be repeated only if the server has certainly
// rolled it back.
func TestUndone(t *testing.T) {
	for code, want := range map[string]bool{"40001": true, "40P01": true, "40003": false, "57P01": false, "22003": false} {
		if got := blame.Undone(fmt.Errorf("submit: %w", &pgconn.PgError{Code: code})); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
	if blame.Undone(io.EOF) || blame.Undone(nil) {
		t.Error("a lost connection tells nothing")
	}
}
