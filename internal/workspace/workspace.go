package workspace

import (
	"encoding/json"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Workspace is one, as last seen.
type Workspace struct {
	ID          weir.ID      `json:"id"`
	OwnerID     weir.ID      `json:"owner_id"`
	Owner       string       `json:"owner"`
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Image       string       `json:"image,omitempty"`
	Provider    string       `json:"provider"`
	CreatedAt   time.Time    `json:"created_at"`
	Desired     ladder.Phase `json:"desired"`
	DesiredBy   string       `json:"desired_by,omitempty"`
	DesiredAt   time.Time    `json:"desired_at"`
	Phase       ladder.Phase `json:"phase"`
	PhaseAt     time.Time    `json:"phase_changed_at"`
	LastAccess  time.Time    `json:"last_access_at"`
	LastUse     string       `json:"last_activity_source,omitempty"`
	// BusyUntil: it has said that it is, although nobody touches it.
	BusyUntil *time.Time `json:"busy_until,omitempty"`
	// StandbyTTL is after how long without use it is stopped, ArchiveTTL after how long in
	// standby it is archived, MaxLife how long it may run in one piece; zero: for ever.
	StandbyTTL node.Span `json:"standby_ttl"`
	ArchiveTTL node.Span `json:"archive_ttl"`
	MaxLife    node.Span `json:"max_life,omitzero"`

	Conditions json.RawMessage  `json:"conditions"`
	ObservedAt *time.Time       `json:"observed_at,omitempty"`
	Operation  ladder.Operation `json:"operation"`
	Op         *weir.ID         `json:"op_id,omitempty"`
	OpStarted  *time.Time       `json:"op_started_at,omitempty"`
	OpProgress *time.Time       `json:"op_progress_at,omitempty"`
	OpSays     string           `json:"op_progress,omitempty"`
	OpRetry    *time.Time       `json:"op_retry_at,omitempty"`
	ArchiveOp  *weir.ID         `json:"archive_op_id,omitempty"`
	ArchiveKey string           `json:"archive_key,omitempty"`
	Archive    *home.Meta       `json:"archive,omitempty"`
	Error      ladder.Reason    `json:"error_reason,omitempty"`
	ErrorSays  string           `json:"error_message,omitempty"`
	Errors     int              `json:"error_count,omitempty"`

	// Generation counts what people wanted, Observed is what of it was acted on.
	Generation int64 `json:"generation"`
	Observed   int64 `json:"observed_generation"`
	// Mounts numbers starts and archives. Mounted is the number that was last seen on the
	// volume, ArchiveMounts that of the archive.
	Mounts        int64 `json:"volume_generation"`
	Mounted       int64 `json:"mounted"`
	ArchiveMounts int64 `json:"archive_generation"`
	// ArchiveOf is the number on the volume that the archive was made of.
	ArchiveOf int64      `json:"-"`
	HadHome   bool       `json:"had_home"`
	DeletedAt *time.Time `json:"deleted_at,omitempty"`
}

// record is what the ladder looks at.
func (w *Workspace) record() ladder.Record {
	return ladder.Record{
		Desired: w.Desired, DeletedAt: w.DeletedAt != nil, Operation: w.Operation, ArchiveKey: w.ArchiveKey, ArchiveGeneration: w.ArchiveMounts, ArchiveOf: w.ArchiveOf,
		Generation: w.Mounts, Mounted: w.Mounted, HadHome: w.HadHome, Error: w.Error, Errors: w.Errors,
	}
}

// Seen is what the last look has shown. What it has not is not so, but that something is
// wrong has to be seen.
func (w *Workspace) Seen() ladder.Conditions {
	nothing := ladder.Conditions{Healthy: ladder.Condition{Status: true}}
	c := nothing
	if err := json.Unmarshal(w.Conditions, &c); err != nil {
		return nothing
	}
	return c
}
