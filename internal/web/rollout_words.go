package web

import (
	"context"
	"strings"

	reasons "github.com/weirhq/weir/internal/reason"
	"github.com/weirhq/weir/internal/web/ui"
)

// look is how a state is shown beside its word.
type look struct{ icon, class string }

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

// lookOf is plain for a word that a newer server may have.
func lookOf(looks map[string]look, word string) look {
	if l, ok := looks[word]; ok {
		return l
	}
	return look{"info", "is-pending"}
}

// waitsSaid is what something waits for in the language of the page. The command that a
// reason advises is a button here.
func waitsSaid(ctx context.Context, r *reasons.Coded, text string) string {
	return sentenceOfKey(because(ctx, r.Without("do"), text))
}

// answerSaid is what a command says that it did.
func answerSaid(text string) string {
	text, _, _ = strings.Cut(plain(text), ": weir ")
	return sentenceOfKey(text)
}

// sentenceOfKey begins with a capital unless the first word is the key of a task.
func sentenceOfKey(text string) string {
	if first, _, _ := strings.Cut(text, " "); strings.Contains(first, "/") {
		return text
	}
	return ui.Sentence(text)
}
