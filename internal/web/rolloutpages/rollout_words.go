package rolloutpages

import (
	"context"
	"strings"

	"github.com/weirhq/weir/internal/reason"
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

// waitsSaid is what something waits for in the language of the page. The command that a
// reason advises is a button here.
func waitsSaid(ctx context.Context, r *reason.Coded, text string) string {
	return sentenceOfKey(ui.Because(ctx, r.Without("do"), text))
}

// answerSaid is what a command says that it did.
func answerSaid(text string) string {
	text, _, _ = strings.Cut(ui.Line(text), ": weir ")
	return sentenceOfKey(text)
}

// sentenceOfKey begins with a capital unless the first word is the key of a task.
func sentenceOfKey(text string) string {
	if first, _, _ := strings.Cut(text, " "); strings.Contains(first, "/") {
		return text
	}
	return ui.Sentence(text)
}
