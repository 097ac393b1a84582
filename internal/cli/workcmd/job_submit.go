package workcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/work"
)

// jobFile is a job as it stands in a file. The fields of a task are those of
// the SQL type weir.task_spec.
type jobFile struct {
	work.JobSpec
	// Tasks are read one by one, to say which one is wrong.
	Tasks []json.RawMessage `json:"tasks"`
}

func (f jobFile) job() (work.JobSpec, error) {
	job := f.JobSpec
	for i, text := range f.Tasks {
		var t work.TaskSpec
		if err := decodeFields(text, &t); err != nil {
			return job, fmt.Errorf("task %d: %w", i+1, err)
		}
		if n := t.MaxAttempts; n != nil && *n == 0 { // to the engine that is none
			return job, fmt.Errorf("task %d: max_attempts: 0 is outside 1 .. 10000", i+1)
		}
		job.Tasks = append(job.Tasks, t)
	}
	return job, nil
}

// readJobFile reads a job from a YAML or JSON file, or from standard input.
func readJobFile(path string, in io.Reader) (work.JobSpec, error) {
	const next = "weir job submit --help shows a file"
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return work.JobSpec{}, command.Invalid("", "read the job: %s", err)
	}
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil { // JSON is YAML too
		return work.JobSpec{}, command.Invalid(next, "%s is neither YAML nor JSON: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if text, err = json.Marshal(tree); err != nil {
		return work.JobSpec{}, command.Invalid(next, "%s: %s", path, err)
	}
	var f jobFile
	if err := decodeFields(text, &f); err != nil {
		return work.JobSpec{}, command.Invalid(next, "%s: %s", path, err)
	}
	job, err := f.job()
	if err != nil {
		return work.JobSpec{}, command.Invalid(next, "%s: %s", path, err)
	}
	return job, nil
}

func jobSubmit(e *command.Env) *cobra.Command {
	var name, key string
	var watch bool
	c := &cobra.Command{
		Use: "submit FILE", Short: "Submit a job from a YAML or JSON file; - is standard input", Args: e.Args("FILE"),
		Long: `Submit a job from a YAML or JSON file; - is standard input.

A file:
  name: nightly report
  tasks:
    - {key: fetch, service: http.get, params: {url: "https://example.org"}}
    - {key: parse, service: report.parse, needs: [fetch], timeout: 5m}
    - {key: mail, service: mail.send, needs: [parse], pool: mail, max_attempts: 5}

The fields of a task are those of the SQL type weir.task_spec.`,
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			job, err := readJobFile(args[0], e.In)
			if err != nil {
				return err
			}
			if name != "" {
				job.Name = name
			}
			if key != "" {
				job.IdempotencyKey = key
			}
			made, err := work.SubmitJob.Call(ctx, s.Operations, &work.SubmittingJob{Keyed: op.Keyed{IdempotencyKey: job.IdempotencyKey}, Body: job})
			if err != nil {
				return err
			}
			o, id := e.Output(), made.ID
			if err := o.Did(id.String(), struct {
				ID weir.ID `json:"id"`
			}{id}, "Submitted job %s with %s.", id, command.Plural(len(job.Tasks), "task", "tasks")); err != nil {
				return err
			}
			if watch {
				return watchJob(ctx, o, s, id, false)
			}
			if o.Table() {
				o.Say("Watch it with: weir job watch %s", command.Short(id))
			}
			return nil
		}),
	}
	c.Flags().StringVar(&name, "name", "", "name of the job, instead of the file's")
	c.Flags().StringVar(&key, "idempotency-key", "", "the same key gives the same job")
	c.Flags().BoolVar(&watch, "watch", false, "watch it until it has ended")
	return c
}
