package node

import "time"

// The kinds of artifacts.
const (
	InputArtifact  = "input"
	OutputArtifact = "output"
	LogArtifact    = "log"
)

// ArtifactMeta describes an object that a task stores.
type ArtifactMeta struct {
	Kind, Name  string
	Size        int64
	ContentType string
	// SHA256 is the hash in hex. If it is empty, the party that stores the object
	// computes it.
	SHA256 string
}

// InputObject is an output of an earlier step that this one asked for.
type InputObject struct {
	// Step is the key of the step that made the object; Name is its path below WEIR_OUT.
	Step, Name string
	// Key is the object's key in the bucket.
	Key  string
	Size int64
	// SHA256 is the recorded hash in hex. Empty means that it is unknown.
	SHA256 string
}

// LogChunk is a piece of the log of an attempt.
type LogChunk struct {
	// Seq counts from 0 without gaps. A chunk with the same number replaces the earlier
	// one.
	Seq int
	// Lines are JSON, one object per line: {"at":"…","stream":"stdout","text":"…"}.
	Lines    []byte
	From, To time.Time
	// Quiet stores the chunk without an event. A reader finds it at the next look.
	Quiet bool
	// Before is how many lines were stored quietly before, for the event to count.
	Before int
}
