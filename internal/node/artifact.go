package node

import "time"

// The kinds of artifacts.
const (
	InputArtifact  = "input"
	OutputArtifact = "output"
	LogArtifact    = "log"
)

// ArtifactMeta describes an object that a task leaves.
type ArtifactMeta struct {
	Kind, Name  string
	Size        int64
	ContentType string
	// SHA256 in hex. Empty: the one who stores it works it out.
	SHA256 string
}

// InputObject is an output of an earlier step that this one asked for.
type InputObject struct {
	// Step is the key of the step that made it; Name its path below WEIR_OUT.
	Step, Name string
	// Key is its place in the bucket.
	Key  string
	Size int64
	// SHA256 in hex, as it was recorded. Empty: nobody knows.
	SHA256 string
}

// LogChunk is a piece of the log of an attempt.
type LogChunk struct {
	// Seq counts from 0 without gaps. The same one again replaces it.
	Seq int
	// Lines are JSON, one object a line: {"at":"…","stream":"stdout","text":"…"}.
	Lines    []byte
	From, To time.Time
	// Quiet: keep it, and write no event. A reader finds it all the same when it
	// looks the next time.
	Quiet bool
	// Before is how many lines were kept quietly before, for the event to count.
	Before int
}
