package rolloutpages

import (
	"strings"

	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// statusLooks are those of tasks. What is available has a colour of its own:
// nothing is in its way, and nobody has taken it.
var statusLooks = map[string]site.Look{
	"NOT_STARTED": {Icon: "not-started", Class: "is-idle"},
	"PENDING":     {Icon: "pending", Class: "is-pending"},
	"AVAILABLE":   {Icon: "available", Class: "is-available"},
	"RUNNING":     {Icon: "running", Class: "is-running"},
	"DONE":        {Icon: "done", Class: "is-done"},
	"FAILED":      {Icon: "failed", Class: "is-failed"},
	"CANCELED":    {Icon: "canceled", Class: "is-canceled"},
	"UNKNOWN":     {Icon: "help", Class: "is-unknown"},
	"SKIPPED":     {Icon: "skipped", Class: "is-skipped"},
}

// stateLooks are those of rollouts and stages.
var stateLooks = map[string]site.Look{
	"not_started": {Icon: "not-started", Class: "is-idle"},
	"running":     {Icon: "running", Class: "is-running"},
	"waiting":     {Icon: "user", Class: "is-held"},
	"paused":      {Icon: "held", Class: "is-held"},
	"done":        {Icon: "done", Class: "is-done"},
	"failed":      {Icon: "failed", Class: "is-failed"},
	"canceled":    {Icon: "canceled", Class: "is-canceled"},
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
