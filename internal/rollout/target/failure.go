package target

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weirhq/weir/internal/rollout/script"
)

// The codes of failures.
const (
	CodeDrift            = "drift"             // not what it was when the plan was made; nothing was run
	CodeBusy             = "busy"              // another executor has the target
	CodeFenced           = "fenced"            // a newer attempt was let in
	CodeChecksum         = "checksum_changed"  // applied before with another text
	CodeOrder            = "out_of_order"      // a newer version is applied
	CodeLockTimeout      = "lock_timeout"      // no lock, after all tries
	CodeDeadlock         = "deadlock"          // chosen as the victim, after all tries
	CodeSerialization    = "serialization"     // could not be put in order, after all tries
	CodeStatementTimeout = "statement_timeout" // took longer than it may
	CodeSyntax           = "syntax"            // the server cannot read it
	CodeSQL              = "sql"               // the server refused it
	CodeForbidden        = "forbidden"         // the user of the DSN may not
	CodeLost             = "connection_lost"   // the connection broke
	CodeUnreachable      = "unreachable"       // no connection, nothing was sent
	CodeCanceled         = "canceled"          // somebody asked for it
	CodeStopped          = "stopped"           // the watch said no, before it acted
	CodeUnclear          = "unclear"           // an earlier attempt began a step; nobody can tell how it ended
	CodeDirty            = "dirty"             // a foreign history says that something is half done
	CodePooled           = "pooled"            // the session moves between backends
	CodeInvalid          = "invalid"           // the run itself is wrong
)

// Failure is why a change was not applied, as far as is known.
type Failure struct {
	Code string
	// Unknown: what was sent may or may not have been applied (rule 6).
	Unknown bool
	// What is wrong, and what to do about it.
	What, Next string
	// State is the SQLSTATE or the error number of the server, if it said one.
	State string
	// Line is where in the change, from 1 on; zero: nowhere. Statement counts from
	// zero and means something only with a line.
	Statement, Line int
	// Done of the Steps of the change are applied and stay: a retry goes on behind
	// them. It says nothing of a failure that is Unknown.
	Done, Steps int
	Err         error

	// undone: it was lost inside a transaction whose commit was never sent.
	undone bool
	// again: the server undid all of it, so it may be tried again (rule 5).
	again bool
}

func (f *Failure) Error() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", f.Line)
	}
	b.WriteString(f.What)
	if f.Err != nil {
		fmt.Fprintf(&b, ": %v", f.Err)
	}
	return b.String()
}

// Unwrap gives the error behind it.
func (f *Failure) Unwrap() error { return f.Err }

// at says where in the change it happened.
func (f *Failure) at(s script.Statement) *Failure {
	f.Statement, f.Line = s.Index, s.Line
	return f
}

// class is what an error of the server means for what was sent.
type class int

const (
	refused class = iota // the server said no: it did not happen
	again                // the server undid it, for a reason that passes
	halted               // somebody canceled it: it did not happen
	lost                 // there is no answer: nobody knows
)

// verdict is an error of a driver, read.
type verdict struct {
	class class
	code  string
	state string
}

// read turns an error of the driver into a failure. Unknown is for the caller to
// say, who knows whether something was sent.
func read(e engine, doing string, err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	v := e.classify(err)
	f = &Failure{Code: v.code, What: doing, State: v.state, Err: e.redact(err), again: v.class == again}
	switch v.code {
	case CodeForbidden:
		f.Next = "Give the user of the DSN this right, or register the database with another user."
	case CodeLost:
		f.Next = "See whether the database and the network are up."
	}
	return f
}

// badEngine names the engines there are.
func badEngine(e script.Engine) error {
	return &Failure{Code: CodeInvalid, What: fmt.Sprintf("engine %q is not known", e), Next: "Use postgres or mysql."}
}

// pooled refuses a connection whose backend is not its own.
func pooled(what string, err error) *Failure {
	return &Failure{
		Code: CodePooled, What: what, Err: err,
		Next: "Connect to the server itself, or through a pool in session mode: one in transaction mode moves sessions about.",
	}
}
