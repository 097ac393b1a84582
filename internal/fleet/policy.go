package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

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
	Run     node.Run      `json:"run" doc:"As the run of a fleet job."`
	Timeout node.Span     `json:"timeout,omitzero" doc:"Default: 5m."`
	Power   *node.Command `json:"power,omitempty" doc:"A command that runs on the PC before the health task of a quarantined device: it switches the device off and on. The first of the two health tasks is due at once then."`
	// ByLabel are the health tasks of devices with certain labels. The first whose
	// conditions a device meets is its health task; Run is that of all others.
	ByLabel []LabelHealth `json:"by_label,omitempty" maxItems:"20" doc:"Other health tasks for devices with certain labels. The first that matches counts; run is for all other devices."`
}

// LabelHealth is the health task of devices with certain labels.
type LabelHealth struct {
	Match   []string      `json:"match" minItems:"1" maxItems:"50" doc:"Conditions on labels, as those of a target; all must hold."`
	Run     node.Run      `json:"run" doc:"As the run of a fleet job."`
	Timeout node.Span     `json:"timeout,omitzero" doc:"Default: 5m."`
	Power   *node.Command `json:"power,omitempty" doc:"The power command of these devices; without it they have none."`
}

// For sets the health task of devices with these labels, or removes it if it has no
// command. A task that exists already keeps its place, because the first match counts, and
// its power command unless there is another one.
func (h *HealthTask) For(task LabelHealth) {
	i := h.index(task.Match)
	switch {
	case len(task.Run.Argv) == 0 && i >= 0:
		h.ByLabel = slices.Delete(h.ByLabel, i, i+1)
	case len(task.Run.Argv) == 0:
	case i >= 0:
		task.Power = cmp.Or(task.Power, h.ByLabel[i].Power)
		h.ByLabel[i] = task
	default:
		h.ByLabel = append(h.ByLabel, task)
	}
}

// SetPower sets or removes the power command of devices with these labels, or of all
// others. It reports whether they have a health task.
func (h *HealthTask) SetPower(match []string, c *node.Command) bool {
	if len(match) == 0 {
		h.Power = c
		return true
	}
	i := h.index(match)
	if i >= 0 {
		h.ByLabel[i].Power = c
	}
	return i >= 0
}

// index returns the place of the health task of devices with these labels, or -1.
func (h *HealthTask) index(match []string) int {
	return slices.IndexFunc(h.ByLabel, func(l LabelHealth) bool { return slices.Equal(l.Match, match) })
}

// runs are the commands of the health task.
func (h HealthTask) runs() []node.Run {
	list := []node.Run{h.Run}
	for _, l := range h.ByLabel {
		list = append(list, l.Run)
	}
	return list
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
	if err := h.Power.Check("health.power"); err != nil {
		return h, err
	}
	for i, l := range h.ByLabel {
		if err := l.Power.Check(fmt.Sprintf("health.by_label[%d].power", i)); err != nil {
			return h, err
		}
		for _, m := range l.Match {
			if len(m) > 500 || !condition.MatchString(m) {
				return h, problem.Refuse(fmt.Sprintf("health.by_label[%d].match", i), conditionForm, "%.100q is no condition on labels", m)
			}
		}
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
