package ladder

import "fmt"

// Seen is what was seen of one workspace in one look at everything. What could not be
// seen is no Seen: then nothing is judged.
type Seen struct {
	// Container runs, or is about to.
	Container bool
	// Ready: it answers.
	Ready bool
	// Image could not be had.
	ImageFailed string
	// Volume is there.
	Volume bool
	// Marker is what is in the volume: the key of the archive that it was brought back
	// from, or Fresh. Empty: it is not whole, somebody has begun to fill it.
	Marker string
	// Mounts is the number of the last start that has mounted it.
	Mounts int64
	// Archive: the one that the record names is in the bucket, with its meta.
	Archive bool
	// OpArchive: the one of the operation that is under way is.
	OpArchive bool
}

// Nothing is the number of a volume that there is not.
const Nothing = -1

// Fresh marks a volume that was made empty.
const Fresh = "fresh"

// Record is what the database says of a workspace, as far as it matters here.
type Record struct {
	Desired   Phase
	DeletedAt bool
	Operation Operation
	// ArchiveKey is the verified archive, ArchiveGeneration its number, and ArchiveOf the one
	// on the volume that it was made of; Nothing: of none.
	ArchiveKey        string
	ArchiveGeneration int64
	ArchiveOf         int64
	// Generation numbers starts and archives in the order in which they were begun, and
	// Mounted is the highest one that was ever seen on the volume.
	Generation int64
	Mounted    int64
	// HadHome: there has been one.
	HadHome bool
	// Error is what stands against it, Errors how often the operation has failed.
	Error  Reason
	Errors int
}

// Condition is one thing that is so, or is not.
type Condition struct {
	Status  bool   `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Conditions are what the phase follows from.
type Conditions struct {
	Volume    Condition `json:"storage.volume_ready"`
	Archive   Condition `json:"storage.archive_ready"`
	Container Condition `json:"infra.container_ready"`
	Healthy   Condition `json:"policy.healthy"`
}

// Leftover is a volume that is whole and not the home: the archive has all that was in
// it, or somebody has written more since. Somebody who was late has left it, or it is about
// to go. If the archive has gone, the volume that it was made of is the home again.
func Leftover(r Record, s Seen) bool {
	archived := s.Mounts < r.ArchiveGeneration && (s.Archive || s.Mounts != r.ArchiveOf)
	return s.Volume && s.Marker != "" && (archived || s.Mounts < r.Mounted)
}

// whole: the home is there.
func whole(r Record, s Seen) bool { return s.Volume && s.Marker != "" && !Leftover(r, s) }

// Judge says what was seen in the words of the record, and the phase: the first that
// fits.
func Judge(r Record, s Seen) (Conditions, Phase) {
	c := conditions(r, s)
	switch {
	case r.DeletedAt && (s.Container || s.Volume):
		return c, Deleting
	case r.DeletedAt:
		return c, Deleted
	case !c.Healthy.Status:
		return c, Error
	case c.Container.Status && c.Volume.Status:
		return c, Running
	case c.Volume.Status:
		return c, Standby
	case c.Archive.Status:
		return c, Archived
	}
	return c, Pending
}

func conditions(r Record, s Seen) Conditions {
	c := Conditions{Healthy: Condition{Status: true}}
	switch {
	case whole(r, s):
		c.Volume = Condition{Status: true}
	case Leftover(r, s):
		c.Volume = Condition{Reason: "Leftover", Message: "there is a volume, but the home was in use or archived after that"}
	case s.Volume:
		c.Volume = Condition{Reason: "Unfinished", Message: "the volume is there, and not filled yet"}
	default:
		c.Volume = Condition{Reason: "NotFound"}
	}
	switch {
	case r.ArchiveKey == "":
		c.Archive = Condition{Reason: "NoArchive"}
	case s.Archive:
		c.Archive = Condition{Status: true}
	default:
		c.Archive = Condition{Reason: "NotFound", Message: fmt.Sprintf("the bucket does not have %s", r.ArchiveKey)}
	}
	switch {
	case s.Container && s.Ready:
		c.Container = Condition{Status: true}
	case s.Container:
		c.Container = Condition{Reason: "NotReady", Message: "it has been started, and does not answer yet"}
	default:
		c.Container = Condition{Reason: "NotFound"}
	}
	switch {
	case s.Container && !s.Volume:
		c.Healthy = Condition{Reason: string(ContainerWithoutVolume), Message: "it runs without its home"}
	case r.Error.Terminal():
		c.Healthy = Condition{Reason: string(r.Error)}
	}
	return c
}
