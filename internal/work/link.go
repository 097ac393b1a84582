package work

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/vault"
)

// linkPurpose keeps a signature of a link from fitting anything else.
const linkPurpose = "event link"

// Link is an address at which one task is told of the event that it waits for, by who has
// it and nothing else. It ends with the wait.
type Link struct {
	Task weir.ID `json:"task"`
	Path string  `json:"path" doc:"Where to POST the payload, below the address of the server. Whoever has it can end the wait."`
	// URL is the whole address, where it is known.
	URL string `json:"url,omitempty" doc:"The whole address, as the command line knows it."`
}

// LinkTask makes the link of a task. The same task has the same link as long as the server
// has the same key.
var LinkTask = op.New(on("task", http.MethodPost, "link", "/tasks/{task}/link", auth.Command,
	"Make a signed link that tells a task of the event that it waits for"),
	func(ctx context.Context, v *vault.Vault, _ auth.Subject, in *NamedTask) (out Link, err error) {
		s := &Store{View: view.New(v.Pool())}
		if out.Task, err = in.find(ctx, s); err != nil {
			return out, err
		}
		t, err := s.View.Task(ctx, out.Task)
		if err != nil {
			return out, err
		}
		if t.Service != "wait" || t.State.Ended() {
			return out, problem.New(problem.Conflict, "name a step that waits for an event", "task %s waits for no event", out.Task)
		}
		signature, err := v.Sign(linkPurpose, out.Task[:])
		if err != nil {
			return out, err
		}
		out.Path = "/api/v1/events/" + base64.RawURLEncoding.EncodeToString(append(out.Task[:], signature...))
		return out, nil
	})

// Follow tells the task of a link that its event came. A link that was not made here, or
// whose wait is over, does not exist.
func Follow(ctx context.Context, v *vault.Vault, client *weir.Client, link string, payload json.RawMessage) (tasks int, err error) {
	var task weir.ID
	data, err := base64.RawURLEncoding.DecodeString(link)
	if err != nil || len(data) <= len(task) || !v.Signed(linkPurpose, data[:len(task)], data[len(task):]) {
		return 0, problem.New(problem.NotFound, "", "there is no such link, or no longer")
	}
	copy(task[:], data)
	return client.SignalTask(ctx, task, payload, "link")
}
