package web

import (
	"strings"

	"github.com/weirhq/weir/internal/web/ui"
)

// statusLooks are those of tasks. What is available has a colour of its own:
// nothing is in its way, and nobody has taken it.
var statusLooks = map[string]look{
	"NOT_STARTED": {"not-started", "is-idle"},
	"PENDING":     {"pending", "is-pending"},
	"AVAILABLE":   {"available", "is-available"},
	"RUNNING":     {"running", "is-running"},
	"DONE":        {"done", "is-done"},
	"FAILED":      {"failed", "is-failed"},
	"CANCELED":    {"canceled", "is-canceled"},
	"UNKNOWN":     {"help", "is-unknown"},
	"SKIPPED":     {"skipped", "is-skipped"},
}

// stateLooks are those of rollouts and stages.
var stateLooks = map[string]look{
	"not_started": {"not-started", "is-idle"},
	"running":     {"running", "is-running"},
	"waiting":     {"user", "is-held"},
	"paused":      {"held", "is-held"},
	"done":        {"done", "is-done"},
	"failed":      {"failed", "is-failed"},
	"canceled":    {"canceled", "is-canceled"},
}

// waitsSaid is what a store says about a wait or an end, as a page says it: the
// command that it advises is a button here, and the key of a task is no word.
func waitsSaid(text string) string {
	text, _, _ = strings.Cut(ui.Line(text), ": weir ")
	if first, _, _ := strings.Cut(text, " "); strings.Contains(first, "/") {
		return text
	}
	return ui.Sentence(text)
}
