package chaos

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is a violation of an invariant.
type Finding struct {
	// Rule is the invariant, such as "I2 (R3) one live lease".
	Rule string
	// Task is the task it is about; empty means the run as a whole.
	Task string
	Text string
}

func (f Finding) String() string {
	if f.Task == "" {
		return f.Rule + ": " + f.Text
	}
	return fmt.Sprintf("%s: task %s: %s", f.Rule, f.Task, f.Text)
}

// The invariants, with the guarantee that each stands for.
const (
	ruleLost      = "I1 (R1, R2) no task is lost"
	ruleLease     = "I2 (R3) one live lease per task"
	ruleFence     = "I3 (R4) an accepted write has the live token"
	ruleTerminal  = "I4 (R5) one terminal move, the winner's result"
	ruleRun       = "I5 (R6) what is done was run"
	ruleExclusive = "I6 (R7) an exclusive task has its lane alone"
	rulePool      = "I7 (R7) no pool is over its size"
	ruleRank      = "I8 (R7) no rank overtakes a lower one"
	ruleTime      = "I9 (R7) nothing starts before its time"
	ruleNeeds     = "I10 (R7) nothing starts before its needs"
	ruleEpoch     = "I12 (R9) one leader acts"
	ruleTimeline  = "I13 (R8) state = fold of the timeline"
	ruleCursor    = "I13 (R8) a reader by cursor misses nothing"
	ruleAttempt   = "I13 (R8) attempts are consecutive"
	ruleExpiry    = "I14 (R3) a lease ends only when its time is over"
	ruleDrain     = "I16 (R12) work drains when faults stop"
	ruleClock     = "R14 agents send no time"
	ruleOverlap   = "I2 (R3) no two attempts at once"
	ruleTwice     = "I2 (R3) an attempt is started once"
	ruleJob       = "I4 (R5, R6) every step of a workflow ends once"
	ruleRemains   = "nothing is left on the machines"
	ruleAnswer    = "L2 answers can be explained"
	ruleRecord    = "R4 a refusal is recorded"
	ruleError     = "unexpected error"
)

// Report joins findings into text, a few of each rule.
func Report(findings []Finding) string {
	const most = 3
	count := map[string]int{}
	var lines []string
	for _, f := range findings {
		if count[f.Rule]++; count[f.Rule] <= most {
			lines = append(lines, "  "+strings.ReplaceAll(f.String(), "\n", "\n    "))
		}
	}
	for rule, n := range count {
		if n > most {
			lines = append(lines, fmt.Sprintf("  %s: and %d more", rule, n-most))
		}
	}
	return fmt.Sprintf("%d findings:\n%s", len(findings), strings.Join(lines, "\n"))
}

// rules returns the distinct invariants of findings.
func rules(findings []Finding) []string {
	var out []string
	for _, f := range findings {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	return out
}
