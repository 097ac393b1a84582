package node

import (
	"encoding/json"
	"time"

	"github.com/weirhq/weir"
)

// ClaimRequest asks for work.
type ClaimRequest struct {
	// ID names the claim (a UUID). The same ID again returns the same leases, so
	// a lost answer is asked for once more.
	ID string
	// Services and Slots are as long as one another: how many more tasks of each
	// service there is room for.
	Services []string
	Slots    []int
	// N is how many tasks at most. Zero: none, only wait for Held.
	N     int
	Lease time.Duration
	// Wait is how long to wait for work when there is none. Zero: not at all.
	Wait time.Duration
	// Held are tasks this agent runs and was not told to stop. The wait ends
	// when somebody asks to cancel one of them.
	Held []weir.ID
}

// Claimed is the answer to a claim.
type Claimed struct {
	Tasks []Assignment
	// Waited is how long the claim had waited when they were taken. What they last is
	// counted from then.
	Waited time.Duration
	// Look: renew now, for somebody may have asked to cancel what you hold.
	Look bool
}

// Assignment is one task leased to the node, and all that is needed to run it.
type Assignment struct {
	Task        weir.ID
	Attempt     int
	Token       string
	Service     string
	Params      json.RawMessage
	Job         weir.ID // zero: the task stands alone
	Key         string  // of the step; empty without a job
	MaxAttempts int
	Run         json.RawMessage // see [Run]; nil: the node must know itself
	Trace       string
	// Lease is its whole length. It began when the task was taken; whoever counts from
	// when the claim was sent and adds what that waited is on the safe side.
	Lease time.Duration
	// Deadline is how long the attempt may take. Zero: for ever.
	Deadline time.Duration
	// Device is what it works on, if its service is [Fleet].
	Device *Device `json:",omitempty"`
}

// Holds names the lease.
func (a Assignment) Holds() Lease { return Lease{Task: a.Task, Attempt: a.Attempt, Token: a.Token} }
