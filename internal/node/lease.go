package node

import "github.com/weirhq/weir"

// Lease names one attempt that a worker of the node holds.
type Lease struct {
	Task    weir.ID
	Attempt int
	Token   string
}

// The values of a Refusal.
const (
	// LeaseLost means that the lease is over, and another worker may have the task. Stop
	// at once and report nothing more about it.
	LeaseLost = "lease_lost"
	// Unknown means that there is no such task.
	Unknown = "unknown"
	// Repeated means that the same report was accepted before. No action is needed.
	Repeated = "repeated"
	// Cancel means that a user asked to cancel the task. Stop the work, then end it with
	// Canceled.
	Cancel = "cancel"
)

// Refusal is the answer about one lease if the answer is more than yes.
type Refusal struct {
	Task    weir.ID
	Attempt int
	Refusal string
}
