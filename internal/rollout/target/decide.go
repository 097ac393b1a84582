package target

import (
	"cmp"
	"fmt"

	"github.com/weirhq/weir/internal/rollout/script"
)

// KindBaseline is the kind of a history row that stands for everything up to its
// version: what came before Weir.
const KindBaseline = "baseline"

// Decide says what the history of a target means for a run: it is applied
// already (rule 2), it is refused (rule 3), or neither: then it may run. It looks
// at the Task, the Change and OutOfOrder of the run only.
func Decide(history []Entry, run Run) (applied *Entry, refused *Failure) {
	if run.Change.Version == "" {
		return decideUnversioned(history, run), nil
	}
	mine, err := script.Rank(run.Change.Version)
	if err != nil {
		return nil, &Failure{Code: CodeInvalid, What: fmt.Sprintf("version %q", run.Change.Version), Err: err}
	}
	var same, base, newer *Entry
	for i := range history {
		e := &history[i]
		if e.Version == "" {
			continue
		}
		rank, err := script.Rank(e.Version)
		if err != nil {
			continue // of another tool, and no order can be seen in it
		}
		switch {
		case rank == mine && e.Checksum != "" && e.Checksum != run.Change.Checksum:
			return nil, &Failure{
				Code: CodeChecksum,
				What: fmt.Sprintf("version %s was applied on %s with another text (checksum %.12s, now %.12s)", e.Version, e.AppliedAt.UTC().Format("2006-01-02 15:04"), e.Checksum, run.Change.Checksum),
				Next: "Put the file back as it was, and write what is to change into a new version.",
			}
		case rank == mine && same == nil:
			same = e
		case rank > mine && e.Kind == KindBaseline && base == nil:
			base = e
		case rank > mine && newer == nil:
			newer = e
		}
	}
	// Its own row says more than one that stands for all before it.
	if found := cmp.Or(same, base); found != nil {
		return found, nil
	}
	if newer != nil && !run.OutOfOrder {
		return nil, &Failure{
			Code: CodeOrder,
			What: fmt.Sprintf("version %s comes before %s, which is applied", run.Change.Version, newer.Version),
			Next: "Give the change a higher version, or allow versions out of order in the plan.",
		}
	}
	return nil, nil
}

// decideUnversioned finds the row of the same task. A repeatable change is also
// applied when its newest row has the same text.
func decideUnversioned(history []Entry, run Run) *Entry {
	newest := true
	for i := range history {
		e := &history[i]
		if e.Task != "" && e.Task == run.Task {
			return e
		}
		if run.Change.Repeatable && newest && e.Version == "" && e.Name == run.Change.Name {
			newest = false
			if e.Checksum == run.Change.Checksum {
				return e
			}
		}
	}
	return nil
}
