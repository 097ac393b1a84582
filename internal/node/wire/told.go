package wire

import "github.com/weirhq/weir/internal/node"

// Started says that the work of an attempt has begun.
type Started struct {
	Lease
	LeaseMS int64 `json:"lease_ms,omitempty" minimum:"0" maximum:"90000000" doc:"How long the lease lasts from now on."`
}

// Told is everything that an agent reports at one moment. Starts and notes are taken before
// outcomes.
type Told struct {
	Starts   []Started `json:"starts,omitempty" maxItems:"1000"`
	Notes    []Note    `json:"notes,omitempty" maxItems:"1000"`
	Logs     []Log     `json:"logs,omitempty" maxItems:"1000" doc:"Pieces of logs: together at most 8 MiB."`
	Outcomes []Outcome `json:"outcomes,omitempty" maxItems:"1000"`
}

// Heard is the answer to it.
type Heard struct {
	Refusals
	Logs []string `json:"logs" doc:"What became of each piece: kept, lease_lost, no_bucket or failed, which means to send it again."`
}

// ToldOf converts a report for sending.
func ToldOf(t node.Told) Told {
	return Told{
		Starts: each(t.Starts, func(s node.Start) Started { return Started{LeaseOf(s.Lease), downward(s.Length)} }),
		Notes:  NotesOf(t.Notes).Notes, Outcomes: OutcomesOf(t.Ends).Outcomes,
		Logs: each(t.Logs, func(p node.LogPiece) Log { return LogOf(p.Lease, p.LogChunk) }),
	}
}

// Node converts the report for the server.
func (t Told) Node() node.Told {
	return node.Told{
		Starts: each(t.Starts, func(s Started) node.Start { return node.Start{Lease: s.Lease.Node(), Length: span(s.LeaseMS)} }),
		Notes:  Notes{t.Notes}.Node(), Ends: Outcomes{t.Outcomes}.Node(),
		Logs: each(t.Logs, func(l Log) node.LogPiece { return node.LogPiece{Lease: l.Lease.Node(), LogChunk: l.Node()} }),
	}
}

// HeardOf converts the answer for sending.
func HeardOf(h node.Heard) Heard { return Heard{RefusalsOf(h.Refused), append([]string{}, h.Logs...)} }

// Node converts the answer for the agent.
func (h Heard) Node() node.Heard { return node.Heard{Refused: h.Refusals.Node(), Logs: h.Logs} }
