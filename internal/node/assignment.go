package node

import (
	"encoding/json"
	"time"

	"github.com/weirhq/weir"
)

// ClaimRequest asks for work.
type ClaimRequest struct {
	// ID names the claim (a UUID). The same ID again returns the same leases, so a claim
	// whose answer was lost can be repeated.
	ID string
	// Services and Slots have the same length: Slots is how many more tasks of each
	// service there is room for.
	Services []string
	Slots    []int
	// N is the most tasks to claim. Zero means none: the claim only waits for Held.
	N     int
	Lease time.Duration
	// Wait is how long to wait for work if there is none. Zero means not at all.
	Wait time.Duration
	// Held are tasks that this agent runs and has no order to stop. The wait ends when a
	// user cancels one of them.
	Held []weir.ID
}

// Claimed is the answer to a claim.
type Claimed struct {
	Tasks []Assignment
	// Waited is how long the claim had waited when the tasks were taken. Their leases and
	// deadlines count from then.
	Waited time.Duration
	// Look asks the agent to renew now, because a user may have canceled a task that it
	// holds.
	Look bool
}

// Assignment is one task that is leased to the node, with everything needed to run it.
type Assignment struct {
	Task        weir.ID
	Attempt     int
	Token       string
	Service     string
	Params      json.RawMessage
	Job         weir.ID // zero: the task has no job
	Key         string  // of the step; empty without a job
	MaxAttempts int
	Run         json.RawMessage // see [Run]; nil: the node itself must know how to run it
	Trace       string
	// Lease is its whole length. It began when the task was taken; an agent that counts
	// from when it sent the claim, plus the time that the claim waited, is on the safe
	// side.
	Lease time.Duration
	// Deadline is how long the attempt may take. Zero means forever.
	Deadline time.Duration
	// Timeout is the time that the attempt was given in all. Unlike Deadline it does not
	// depend on how long the claim took, so it is what people are told. Zero means that
	// there is none, or that the server is of the version before.
	Timeout time.Duration `json:",omitempty"`
	// Device is the device that the task runs on, if its service is [Fleet].
	Device *Device `json:",omitempty"`
}

// Holds returns the name of the lease.
func (a Assignment) Holds() Lease { return Lease{Task: a.Task, Attempt: a.Attempt, Token: a.Token} }
