package script

import "fmt"

// Step is what runs at one go: a transaction, or one statement outside of any.
type Step struct {
	Statements []Statement
	// Transaction says that the statements and the note that they ran are
	// written together.
	Transaction bool
	// Session are statements of earlier steps that set up the session (SET, USE).
	// A run that goes on at this step on a new connection repeats them first.
	Session []Statement
}

// Steps groups the statements of a change, in the order of the file: neighbours
// that may share a transaction do, unless the file says transaction=off; what
// cannot is a step of its own. No statements: no steps. The error is a *Fault.
func Steps(e Engine, c Change) ([]Step, error) {
	found, _, err := statements(e, c)
	if err != nil {
		return nil, err
	}
	var steps []Step
	var session []Statement
	joins := false // whether the last step takes one more statement
	for _, s := range found {
		if !joins || !c.Transaction || s.Alone {
			steps = append(steps, Step{Transaction: !s.Alone && (c.Transaction || !maySelfCommit(s)), Session: append([]Statement(nil), session...)})
		}
		joins = c.Transaction && !s.Alone
		last := &steps[len(steps)-1]
		last.Statements = append(last.Statements, s.Statement)
		if s.session {
			session = append(session, s.Statement)
		}
	}
	return steps, nil
}

// maySelfCommit says whether a statement may hold a COMMIT of its own, which a
// server refuses inside a transaction. A file with transaction=off may be that
// way because of it.
func maySelfCommit(s statement) bool { return s.Tag == "CALL" || s.Tag == "DO" }

// statements are those of a change without a BEGIN and a COMMIT around all of
// them, which say what is done anyway. Anywhere else such a statement would end
// the transaction before the history row is in it. begin is the BEGIN that was
// left out, if one was.
func statements(e Engine, c Change) (inner []statement, begin *statement, err error) {
	found, fault := split(e, c.SQL)
	if fault != nil {
		return nil, nil, fault.in(c.File)
	}
	inner = found
	if wrapped(found) && c.Transaction {
		inner, begin = found[1:len(found)-1], &found[0]
	}
	for _, s := range inner {
		if s.control != "" {
			return nil, nil, &Fault{
				File: c.File, Line: s.Line, Column: 1,
				What: fmt.Sprintf("%s would come between the change and the history row that is written with it", s.control),
				Next: "take it out: neighbouring statements share a transaction, and with -- weir: transaction=off each has its own",
			}
		}
		if s.Alone && begin != nil && e == Postgres {
			return nil, nil, &Fault{
				File: c.File, Line: s.Line, Column: 1,
				What: fmt.Sprintf("%s cannot run inside of BEGIN and COMMIT", article(s.Tag)),
				Next: "take BEGIN and COMMIT out: each such statement becomes a step of its own",
			}
		}
	}
	return inner, begin, nil
}

// wrapped says whether BEGIN and COMMIT stand around all of a script.
func wrapped(found []statement) bool {
	return len(found) >= 2 && found[0].control == "BEGIN" && found[len(found)-1].control == "COMMIT"
}
