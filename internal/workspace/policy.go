package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
)

// Policy is what holds for all workspaces.
type Policy struct {
	// PerUser is how many workspaces of a user may run at once, InAll how many of all.
	PerUser int `json:"per_user"`
	InAll   int `json:"in_all"`
	// StandbyTTL and ArchiveTTL hold for those that say nothing else.
	StandbyTTL node.Span `json:"standby_ttl"`
	ArchiveTTL node.Span `json:"archive_ttl"`
	// MaxLife is how long one may run in one piece. Zero: for ever.
	MaxLife node.Span `json:"max_life,omitzero"`
	// BusyMost is how long after its last use one may say that it is busy.
	BusyMost node.Span `json:"busy_most"`
	// UnknownAt is since when not everything could be seen, UnknownOf what of it, Unknown
	// why. What was seen before stands.
	UnknownAt *time.Time `json:"unknown_at,omitempty"`
	UnknownOf []string   `json:"unknown_of,omitempty"`
	Unknown   string     `json:"unknown,omitempty"`
}

// PolicyChange names what is to be different. Nil leaves as is.
type PolicyChange struct {
	PerUser    *int     `json:"per_user,omitempty" minimum:"0" maximum:"10000" doc:"How many workspaces of a user may run at once."`
	InAll      *int     `json:"in_all,omitempty" minimum:"0" maximum:"100000" doc:"How many may run at once."`
	StandbyTTL *op.Wait `json:"standby_ttl,omitempty" doc:"After how long without use one is stopped."`
	ArchiveTTL *op.Wait `json:"archive_ttl,omitempty" doc:"After how long in standby one is archived."`
	MaxLife    *op.Wait `json:"max_life,omitempty" doc:"How long one may run in one piece. 0s: for ever."`
	BusyMost   *op.Wait `json:"busy_most,omitempty" doc:"For how long a workspace may say that it is busy."`
}

// Policy reads the policy.
func (s *Store) Policy(ctx context.Context) (Policy, error) {
	p, err := s.policy(ctx)
	if err != nil {
		return p, fmt.Errorf("read policy: %w", err)
	}
	return p, nil
}

// SetPolicy changes the policy and returns it. What runs, runs on.
func (s *Store) SetPolicy(ctx context.Context, by string, c PolicyChange) (Policy, error) {
	fields := map[string]any{}
	if c.PerUser != nil {
		fields["per_user"] = *c.PerUser
	}
	if c.InAll != nil {
		fields["in_all"] = *c.InAll
	}
	put(fields, "standby_ttl", c.StandbyTTL)
	put(fields, "archive_ttl", c.ArchiveTTL)
	put(fields, "max_life", c.MaxLife)
	if put(fields, "busy_most", c.BusyMost); c.BusyMost != nil && *c.BusyMost == 0 {
		fields["busy_most"] = "0 s"
	}
	text, err := json.Marshal(fields)
	if err == nil {
		err = s.setPolicy(ctx, by, text)
	}
	if err != nil {
		return Policy{}, fmt.Errorf("set policy: %w", err)
	}
	return s.Policy(ctx)
}

// Unseen says that workspaces of a provider cannot be seen whole at the moment: nothing is
// done with them.
func (p Policy) Unseen(provider string) bool {
	return slices.Contains(p.UnknownOf, bucketName) || slices.Contains(p.UnknownOf, provider)
}
