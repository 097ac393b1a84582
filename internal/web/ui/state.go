package ui

// states gives every state of a task, job, node or worker its icon and its
// look. The word always stands beside them: colour alone says nothing.
var states = map[string]struct{ icon, look, word string }{
	"pending":   {"pending", "pending", "pending"},
	"available": {"available", "available", "available"},
	"running":   {"running", "running", "running"},
	"canceling": {"running", "canceling", "canceling"},
	"done":      {"done", "done", "done"},
	"failed":    {"failed", "failed", "failed"},
	"canceled":  {"canceled", "canceled", "canceled"},
	"skipped":   {"skipped", "skipped", "skipped"},
	"held":      {"held", "held", "held"},
	"active":    {"done", "done", "active"},
	"live":      {"done", "done", "live"},
	"draining":  {"held", "held", "draining"},
	"paused":    {"held", "held", "paused"},
	"away":      {"failed", "failed", "away"},
	"dead":      {"failed", "failed", "dead"},
	"lost":      {"failed", "failed", "lost"},
	"stopped":   {"canceled", "canceled", "stopped"},
	"queued":    {"pending", "pending", "queued"},
	"asleep":    {"moon", "pending", "asleep"},
	"waking":    {"sun", "running", "waking"},
	"awake":     {"sun", "done", "awake"},
}

// levels are those of events and of the doctor's findings.
var levels = map[string]struct{ icon, look string }{
	"debug":   {"info", "pending"},
	"info":    {"info", "pending"},
	"warn":    {"alert", "warn"},
	"warning": {"alert", "warn"},
	"error":   {"failed", "failed"},
}

// Tone is how a badge or a note looks. It repeats what its words say.
type Tone string

// The tones.
const (
	Plain Tone = "pending"
	Info  Tone = "info"
	Good  Tone = "good"
	Warn  Tone = "warn"
	Bad   Tone = "bad"
)

func (t Tone) icon() string {
	switch t {
	case Good:
		return "done"
	case Warn:
		return "alert"
	case Bad:
		return "failed"
	default:
		return "info"
	}
}
