package ui

// states gives every state of a task, job, node or worker its icon and its
// look. The word always stands beside them: colour alone says nothing.
var states = map[string]struct{ icon, look string }{
	"pending":   {"pending", "pending"},
	"available": {"available", "available"},
	"running":   {"running", "running"},
	"canceling": {"running", "canceling"},
	"done":      {"done", "done"},
	"failed":    {"failed", "failed"},
	"canceled":  {"canceled", "canceled"},
	"skipped":   {"skipped", "skipped"},
	"held":      {"held", "held"},
	"active":    {"done", "done"},
	"live":      {"done", "done"},
	"draining":  {"held", "held"},
	"paused":    {"held", "held"},
	"away":      {"failed", "failed"},
	"dead":      {"failed", "failed"},
	"lost":      {"failed", "failed"},
	"stopped":   {"canceled", "canceled"},
	"queued":    {"pending", "pending"},
	"asleep":    {"moon", "pending"},
	"waking":    {"sun", "running"},
	"awake":     {"sun", "done"},
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
