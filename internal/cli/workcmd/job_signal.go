package workcmd

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/work"
)

func jobSignal(e *command.Env) *cobra.Command {
	var payload string
	c := &cobra.Command{
		Use: "signal ID EVENT", Short: "Tell a job that something happened outside", Args: e.Args("ID", "EVENT"),
		Long: `Tell a job that something happened outside. Steps that wait for the event are done,
with the payload as their result; one that waits for it later finds it. The same
event again changes nothing; with another payload it is refused.`,
		Example: "  weir job signal 8057b302099a paid --payload '{\"amount\": 12}'",
	}
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		id, err := FindJob(ctx, s, args[0])
		if err != nil {
			return err
		}
		in := &work.Signaling{NamedJob: work.NamedJob{Job: id.String()}, Body: work.SignalBody{Event: args[1]}}
		if payload != "" {
			if !json.Valid([]byte(payload)) {
				return command.Invalid(`write it so: --payload '{"amount": 12}'`, "--payload: %.60q is not JSON", payload)
			}
			in.Body.Payload = json.RawMessage(payload)
		}
		out, err := work.SignalJob.Call(ctx, s.Operations, in)
		if err != nil {
			return err
		}
		said := "Job %s has the event %s: %s."
		what := command.Plural(out.Tasks, "step is done", "steps are done")
		if out.Tasks == 0 {
			what = "no step waits for it now, it is kept"
		}
		return e.Output().Did(id.String(), struct {
			ID    weir.ID `json:"id"`
			Tasks int     `json:"tasks"`
		}{id, out.Tasks}, said, command.Short(id), command.Clean(args[1]), what)
	})
	c.Flags().StringVar(&payload, "payload", "", "any `JSON`; the result of the steps that wait for it")
	return c
}
