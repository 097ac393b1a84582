package rollout

import (
	"encoding/json"
	"time"

	"github.com/weirhq/weir/internal/rollout/target"
)

// StatementDone is a statement that ran, as the log of a run has it. In JSON its times
// are milliseconds, with their fractions.
type StatementDone struct {
	// Step and Index are positions in the change, from 0 on.
	Step    int    `json:"step"`
	Index   int    `json:"index"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	Tag     string `json:"tag"`
	// Try counts from 1: a transaction that got no lock runs again.
	Try  int   `json:"try"`
	Rows int64 `json:"rows"`
	// Waited is how long others kept it from its lock, as far as was seen.
	Took, Waited time.Duration `json:"-"`
	TookMS       float64       `json:"took_ms"`
	WaitedMS     float64       `json:"waited_ms,omitempty"`
	Notices      []string      `json:"notices,omitempty"`
	// Skipped says why it did not have to run, if so.
	Skipped string `json:"skipped,omitempty"`
}

func logged(s target.StatementDone) StatementDone {
	return StatementDone{
		Step: s.Step, Index: s.Index, Line: s.Line, EndLine: s.EndLine, Tag: s.Tag, Try: s.Try, Rows: s.Rows, Took: s.Took, Waited: s.Waited,
		TookMS: milliseconds(s.Took), WaitedMS: milliseconds(s.Waited), Notices: s.Notices, Skipped: s.Skipped,
	}
}

// UnmarshalJSON gives the times back that JSON has as numbers.
func (s *StatementDone) UnmarshalJSON(data []byte) error {
	type plain StatementDone
	if err := json.Unmarshal(data, (*plain)(s)); err != nil {
		return err
	}
	s.Took, s.Waited = duration(s.TookMS), duration(s.WaitedMS)
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
