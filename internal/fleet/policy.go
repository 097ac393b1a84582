package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// How a device is judged by permanently failed runs.
const (
	PolicyStrict   = "strict"
	PolicyEvidence = "evidence"
)

// Policy holds for the whole fleet.
type Policy struct {
	Policy  string      `json:"policy" enum:"strict,evidence" doc:"strict: a run that failed for good puts its device out. evidence: failures of two jobs do, or a failed health task."`
	Health  *HealthTask `json:"health" doc:"The health task; null: there is none."`
	Overlap bool        `json:"overlap" doc:"Devices that the active job does not need serve the next one."`
	Slots   int         `json:"slots" doc:"How many devices of a PC work at once unless it says otherwise."`
}

// HealthTask checks whether a device is healthy.
type HealthTask struct {
	Run     node.Run  `json:"run" doc:"As the run of a fleet job."`
	Timeout node.Span `json:"timeout,omitzero" doc:"Default: 5m."`
}

// PolicyChange names the changes. A nil field stays as it is.
type PolicyChange struct {
	Policy  *string         `json:"policy,omitempty" enum:"strict,evidence"`
	Health  json.RawMessage `json:"health,omitempty" doc:"Another health task, as run and timeout; null: there is none."`
	Overlap *bool           `json:"overlap,omitempty"`
	Slots   *int            `json:"slots,omitempty" minimum:"1" maximum:"1000"`
}

// NoHealth removes the health task.
var NoHealth = json.RawMessage("null")

// health reads the health task, and writes it as it is stored. An unknown word is an
// error, because it would go unnoticed otherwise. The result is zero if there is none.
func (c *PolicyChange) health() (h HealthTask, err error) {
	if text := bytes.TrimSpace(c.Health); len(text) == 0 || bytes.Equal(text, NoHealth) {
		return h, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(c.Health))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&h); err != nil {
		return h, problem.Refuse("health", `for example {"run": {"argv": ["./health.sh"]}, "timeout": "5m"}`, "it is not understood: %s", err)
	}
	c.Health, err = json.Marshal(h)
	return h, err
}

// Policy reads the policy.
func (s *Store) Policy(ctx context.Context) (p Policy, err error) {
	has, err := s.policy(ctx)
	if err == nil {
		err = json.Unmarshal(has, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read policy: %w", err)
	}
	return p, nil
}

// SetPolicy changes the policy and returns it.
func (s *Store) SetPolicy(ctx context.Context, by string, c PolicyChange) (Policy, error) {
	var p Policy
	_, err := c.health()
	if err != nil {
		return p, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return p, fmt.Errorf("set policy: %w", err)
	}
	has, err := s.setPolicy(ctx, by, text)
	if err == nil {
		err = json.Unmarshal(has, &p)
	}
	if err != nil {
		return p, fmt.Errorf("set policy: %w", err)
	}
	return p, nil
}
