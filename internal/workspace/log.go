package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Entry is something that happened to a workspace, as the timeline tells it.
type Entry struct {
	Seq     int64     `json:"seq"`
	At      time.Time `json:"at"`
	Type    string    `json:"type"`
	By      string    `json:"by,omitempty"`
	Level   string    `json:"level,omitempty"`
	Message string    `json:"message,omitempty"`
	// Operation and Op say which operation it belongs to.
	Operation ladder.Operation `json:"operation,omitempty"`
	Op        *weir.ID         `json:"op_id,omitempty"`
	Reason    ladder.Reason    `json:"reason,omitempty"`
	Data      json.RawMessage  `json:"data,omitempty"`
}

// Log reads what happened to a workspace, newest first.
func (s *Store) Log(ctx context.Context, id weir.ID, p view.Page) ([]Entry, error) {
	var before int64
	if p.After != "" {
		var err error
		if before, err = strconv.ParseInt(p.After, 10, 64); err != nil || before <= 0 {
			return nil, problem.Refuse("after", "give the seq of the last entry of the page before", "%q is none", p.After)
		}
	}
	entries, err := s.entries(ctx, id, before, p.Most())
	if err != nil {
		return nil, fmt.Errorf("read the log of a workspace: %w", err)
	}
	return entries, nil
}

// Archive is one that was made of a home.
type Archive struct {
	Key string `json:"key"`
	// VerifiedAt is when it was read back whole. Nil: it never was, nobody relies on it.
	VerifiedAt *time.Time `json:"verified_at,omitempty"`
	Meta       *home.Meta `json:"meta,omitempty"`
	// Current: it is the one that the home comes back from.
	Current bool `json:"current"`
	// OrphanSince is since when nobody needs it.
	OrphanSince *time.Time `json:"orphan_since,omitempty"`
}

// Archives reads those of a workspace, newest first.
func (s *Store) Archives(ctx context.Context, id weir.ID) ([]Archive, error) {
	all, err := s.archives(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read archives: %w", err)
	}
	return all, nil
}
