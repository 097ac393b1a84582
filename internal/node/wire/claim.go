package wire

import (
	"encoding/json"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
)

// Info is what a machine reports about itself. Its name is in its credential.
type Info struct {
	Labels    map[string]string `json:"labels,omitempty"`
	Capacity  map[string]int    `json:"capacity,omitempty" doc:"Slots per service."`
	Drivers   []string          `json:"drivers,omitempty" maxItems:"100"`
	Isolation string            `json:"isolation,omitempty" maxLength:"200" doc:"How the agent holds the processes of an attempt together."`
	Version   string            `json:"version,omitempty" maxLength:"100"`
	Holder    string            `json:"holder,omitempty" maxLength:"100" doc:"Tells this agent from another of the same name: the same after a restart."`
}

// InfoOf converts the info for sending.
func InfoOf(i node.Info) Info {
	return Info{i.Labels, i.Capacity, i.Drivers, i.Isolation, i.Version, i.Holder}
}

// Node converts the info for the server.
func (i Info) Node(name string) node.Info {
	return node.Info{Name: name, Labels: i.Labels, Capacity: i.Capacity, Drivers: i.Drivers, Isolation: i.Isolation, Version: i.Version, Holder: i.Holder}
}

// Orders are the answer to each heartbeat.
type Orders struct {
	Mode     string            `json:"mode"`
	Sleep    bool              `json:"sleep,omitempty" doc:"It has been idle long enough: it may go to sleep."`
	Labels   map[string]string `json:"labels,omitempty"`
	Capacity map[string]int    `json:"capacity,omitempty"`
}

// OrdersOf converts the orders for sending.
func OrdersOf(o node.Orders) Orders { return Orders(o) }

// Node converts the orders for the agent.
func (o Orders) Node() node.Orders { return node.Orders(o) }

// Claim asks for work.
type Claim struct {
	ID       string   `json:"id" maxLength:"64" doc:"Names the claim. The same id again gives the same leases."`
	Services []string `json:"services" maxItems:"1000"`
	Slots    []int    `json:"slots,omitempty" maxItems:"1000" doc:"How many of each service are free."`
	N        int      `json:"n" minimum:"0" maximum:"1000" doc:"How many at most. Zero: none, only wait for what is held."`
	LeaseMS  int64    `json:"lease_ms,omitempty" minimum:"0" maximum:"3600000"`
	WaitMS   int64    `json:"wait_ms,omitempty" minimum:"0" maximum:"60000" doc:"How long to wait for work, if there is none. The server may answer sooner."`
	// Held are tasks whose cancellation ends the wait.
	Held []weir.ID `json:"held,omitempty" maxItems:"1000" doc:"Tasks that run here: the wait ends when one of them is to be cancelled."`
}

// ClaimOf converts the claim for sending.
func ClaimOf(r node.ClaimRequest) Claim {
	return Claim{r.ID, append([]string{}, r.Services...), r.Slots, r.N, downward(r.Lease), downward(r.Wait), r.Held}
}

// Node converts the claim for the server. Its wait is at most most.
func (c Claim) Node(most time.Duration) node.ClaimRequest {
	return node.ClaimRequest{ID: c.ID, Services: c.Services, Slots: c.Slots, N: c.N, Lease: span(c.LeaseMS), Wait: min(span(c.WaitMS), most), Held: c.Held}
}

// Assignment is a task that was leased.
type Assignment struct {
	Lease
	Service     string          `json:"service"`
	Params      json.RawMessage `json:"params,omitempty"`
	Job         weir.ID         `json:"job,omitzero"`
	Key         string          `json:"key,omitempty"`
	MaxAttempts int             `json:"max_attempts"`
	Run         json.RawMessage `json:"run,omitempty"`
	Trace       string          `json:"trace,omitempty"`
	LeaseMS     int64           `json:"lease_ms" doc:"What is left of the lease."`
	DeadlineMS  int64           `json:"deadline_ms,omitempty" doc:"What is left of the attempt's time; none: no limit."`
	TimeoutMS   int64           `json:"timeout_ms,omitempty" doc:"The attempt's time in all; none: no limit."`
	Device      *Device         `json:"device,omitempty" doc:"What it works on, if it is work of a fleet."`
}

// Claimed is the answer to a claim.
type Claimed struct {
	Items    []Assignment `json:"items"`
	WaitedMS int64        `json:"waited_ms,omitempty" doc:"How long the claim had waited when they were taken. What they last is counted from then."`
	Look     bool         `json:"look,omitempty" doc:"Renew now: somebody may have asked to cancel what is held."`
}

// ClaimedOf converts the answer for sending.
func ClaimedOf(c node.Claimed) Claimed {
	return Claimed{Look: c.Look, WaitedMS: c.Waited.Milliseconds(), Items: each(c.Tasks, func(a node.Assignment) Assignment {
		return Assignment{
			Lease: LeaseOf(a.Holds()), Service: a.Service, Params: a.Params, Job: a.Job, Key: a.Key, MaxAttempts: a.MaxAttempts,
			Run: a.Run, Trace: a.Trace, LeaseMS: downward(a.Lease), DeadlineMS: downward(a.Deadline), TimeoutMS: a.Timeout.Milliseconds(), Device: (*Device)(a.Device),
		}
	})}
}

// Node converts the answer for the agent.
func (c Claimed) Node() node.Claimed {
	return node.Claimed{Look: c.Look, Waited: span(c.WaitedMS), Tasks: each(c.Items, func(a Assignment) node.Assignment {
		return node.Assignment{
			Task: a.Task, Attempt: a.Attempt, Token: a.Token, Service: a.Service, Params: a.Params, Job: a.Job, Key: a.Key, MaxAttempts: a.MaxAttempts,
			Run: a.Run, Trace: a.Trace, Lease: span(a.LeaseMS), Deadline: span(a.DeadlineMS), Timeout: span(a.TimeoutMS), Device: (*node.Device)(a.Device),
		}
	})}
}
