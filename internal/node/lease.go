package node

import "github.com/weirhq/weir"

// Lease names one attempt that a worker of the node holds.
type Lease struct {
	Task    weir.ID
	Attempt int
	Token   string
}

// What a Refusal can say.
const (
	// LeaseLost: somebody else has the task by now, or nobody. Stop at once and
	// say no more about it.
	LeaseLost = "lease_lost"
	// Unknown: there is no such task.
	Unknown = "unknown"
	// Repeated: this was accepted before. All is well.
	Repeated = "repeated"
	// Cancel: somebody asked for it to be cancelled. Stop, then end it with
	// Canceled.
	Cancel = "cancel"
)

// Refusal is the answer about one lease for which there is more to say than yes.
type Refusal struct {
	Task    weir.ID
	Attempt int
	Refusal string
}
