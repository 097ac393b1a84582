package ladder

import "slices"

// Phase is where a workspace is, as last seen.
type Phase string

// The phases. Those that are rungs have a height.
const (
	Pending  Phase = "PENDING"
	Archived Phase = "ARCHIVED"
	Standby  Phase = "STANDBY"
	Running  Phase = "RUNNING"
	Error    Phase = "ERROR"
	Deleting Phase = "DELETING"
	Deleted  Phase = "DELETED"
)

// Phases are all of them, from below.
var Phases = []Phase{Pending, Archived, Standby, Running, Error, Deleting, Deleted}

// Level is the height of a rung. What is no rung has none.
func (p Phase) Level() (int, bool) {
	level, rung := map[Phase]int{Pending: 0, Archived: 5, Standby: 10, Running: 20}[p]
	return level, rung
}

// Wantable are the phases that somebody may want.
var Wantable = []Phase{Archived, Standby, Running, Deleted}

// Operation is what is under way.
type Operation string

// The operations.
const (
	None               Operation = "NONE"
	Provisioning       Operation = "PROVISIONING"
	Restoring          Operation = "RESTORING"
	Starting           Operation = "STARTING"
	Stopping           Operation = "STOPPING"
	Archiving          Operation = "ARCHIVING"
	CreateEmptyArchive Operation = "CREATE_EMPTY_ARCHIVE"
	DeletingAll        Operation = "DELETING"
)

// Operations are all of them.
var Operations = []Operation{None, Provisioning, Restoring, Starting, Stopping, Archiving, CreateEmptyArchive, DeletingAll}

// Reason is why a workspace is in error, or why the last try failed.
type Reason string

// The reasons.
const (
	Timeout                Reason = "Timeout"
	RetryExceeded          Reason = "RetryExceeded"
	ActionFailed           Reason = "ActionFailed"
	DataLost               Reason = "DataLost"
	Unreachable            Reason = "Unreachable"
	ImagePullFailed        Reason = "ImagePullFailed"
	ContainerWithoutVolume Reason = "ContainerWithoutVolume"
	ArchiveCorrupted       Reason = "ArchiveCorrupted"
)

// Reasons are all of them.
var Reasons = []Reason{Timeout, RetryExceeded, ActionFailed, DataLost, Unreachable, ImagePullFailed, ContainerWithoutVolume, ArchiveCorrupted}

// Terminal says that it will not heal by trying again.
func (r Reason) Terminal() bool {
	return slices.Contains([]Reason{Timeout, RetryExceeded, DataLost, ImagePullFailed, ContainerWithoutVolume, ArchiveCorrupted}, r)
}
