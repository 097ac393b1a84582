package node

import (
	"context"
	"time"

	"github.com/weirhq/weir/internal/pgtext"
)

// The faults of a node. They are the same words in the database.
const (
	NoDriver   = "no_driver"   // the driver does not work on this machine
	EngineAway = "engine_away" // the engine behind a driver died or does not answer
	DiskFull   = "disk_full"
	FolderGone = "folder_gone" // the agent's folder is gone or cannot be written
	NoMemory   = "no_memory"   // the machine cannot start another process
)

// FaultMessageMost is how many bytes of a fault's message are kept.
const FaultMessageMost = 1000

// Fault is why a node does not claim a service at present.
type Fault struct {
	Service string `json:"service"`
	// Fault is NoDriver or another of these constants.
	Fault   string `json:"fault"`
	Message string `json:"message"`
	// RetryIn is when the node claims the service again. Zero means as soon as what is
	// broken answers.
	RetryIn time.Duration `json:"-"`
	// RetrySeconds is RetryIn for the database.
	RetrySeconds *float64 `json:"retry_in,omitempty"`
}

// Faults reports everything that is broken on the node. The list replaces the one before.
func (d *Desk) Faults(ctx context.Context, faults []Fault) error {
	list := make([]Fault, len(faults)) // not nil, because it becomes a list
	for i, f := range faults {
		f.Message = pgtext.Cut(pgtext.Text(f.Message), FaultMessageMost)
		if f.RetryIn > 0 {
			s := f.RetryIn.Seconds()
			f.RetrySeconds = &s
		}
		list[i] = f
	}
	_, err := d.pool.Exec(ctx, `select weir.report_faults($1, $2)`, d.node, list)
	return wrap("report faults", err)
}
