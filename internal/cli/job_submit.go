package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
)

// jobFile is a job as it stands in a file. The fields of a task are those of
// the SQL type weir.task_spec.
type jobFile struct {
	Name           string          `json:"name"`
	Kind           string          `json:"kind"`
	Priority       int             `json:"priority"`
	Params         json.RawMessage `json:"params"`
	IdempotencyKey string          `json:"idempotency_key"`
	Trace          string          `json:"trace"`
	// Tasks are read one by one, to say which one is wrong.
	Tasks []json.RawMessage `json:"tasks"`
}

type taskFile struct {
	Service        string            `json:"service"`
	Params         json.RawMessage   `json:"params"`
	Key            string            `json:"key"`
	Needs          []string          `json:"needs"`
	Rule           weir.Rule         `json:"rule"`
	Priority       int               `json:"priority"`
	Labels         map[string]string `json:"labels"`
	RunAt          time.Time         `json:"run_at"`
	Hold           string            `json:"hold"`
	Lane           string            `json:"lane"`
	Rank           *int64            `json:"rank"`
	Exclusive      bool              `json:"exclusive"`
	Pool           string            `json:"pool"`
	MaxAttempts    *int              `json:"max_attempts"`
	Timeout        period            `json:"timeout"`
	Backoff        period            `json:"backoff"`
	BackoffCap     period            `json:"backoff_cap"`
	Orphan         weir.Orphan       `json:"orphan"`
	IdempotencyKey string            `json:"idempotency_key"`
	UniqueKey      string            `json:"unique_key"`
	Trace          string            `json:"trace"`
}

// period is a duration in a file: "90s", "2d", or a number of seconds.
type period time.Duration

// UnmarshalJSON implements [json.Unmarshaler].
func (p *period) UnmarshalJSON(text []byte) error {
	if seconds, err := strconv.ParseFloat(string(text), 64); err == nil {
		*p = period(seconds * float64(time.Second))
		return nil
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		return errors.New("expected a duration such as 90s, 12h or 30d, or a number of seconds")
	}
	d, err := app.ParseDuration(s)
	*p = period(d)
	return err
}

func (f jobFile) job() (weir.Job, error) {
	job := weir.Job{Name: f.Name, Kind: f.Kind, Priority: f.Priority, IdempotencyKey: f.IdempotencyKey, Trace: f.Trace}
	if len(f.Params) > 0 {
		job.Params = f.Params
	}
	for i, text := range f.Tasks {
		var t taskFile
		if err := decodeFields(text, &t); err != nil {
			return job, fmt.Errorf("task %d: %w", i+1, err)
		}
		attempts := 0
		if t.MaxAttempts != nil {
			if attempts = *t.MaxAttempts; attempts < 1 || attempts > maxAttempts {
				return job, fmt.Errorf("task %d: max_attempts: %d is outside 1 .. %d", i+1, attempts, maxAttempts)
			}
		}
		task := weir.Task{
			Service: t.Service, Key: t.Key, Needs: t.Needs, Rule: t.Rule, Priority: t.Priority, Labels: t.Labels, RunAt: t.RunAt, Hold: t.Hold, Lane: t.Lane, Rank: t.Rank,
			Exclusive: t.Exclusive, Pool: t.Pool, MaxAttempts: attempts, Timeout: time.Duration(t.Timeout), Backoff: time.Duration(t.Backoff),
			BackoffCap: time.Duration(t.BackoffCap), Orphan: t.Orphan, IdempotencyKey: t.IdempotencyKey, UniqueKey: t.UniqueKey, Trace: t.Trace,
		}
		if len(t.Params) > 0 {
			task.Params = t.Params
		}
		job.Tasks = append(job.Tasks, task)
	}
	return job, nil
}

// readJobFile reads a job from a YAML or JSON file, or from standard input.
func readJobFile(path string, in io.Reader) (weir.Job, error) {
	const next = "weir job submit --help shows a file"
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return weir.Job{}, invalid("", "read the job: %s", err)
	}
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil { // JSON is YAML too
		return weir.Job{}, invalid(next, "%s is neither YAML nor JSON: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if text, err = json.Marshal(tree); err != nil {
		return weir.Job{}, invalid(next, "%s: %s", path, err)
	}
	var f jobFile
	if err := decodeFields(text, &f); err != nil {
		return weir.Job{}, invalid(next, "%s: %s", path, err)
	}
	job, err := f.job()
	if err != nil {
		return weir.Job{}, invalid(next, "%s: %s", path, err)
	}
	return job, nil
}

func (e *env) jobSubmit() *cobra.Command {
	var name, key string
	var watch bool
	c := &cobra.Command{
		Use: "submit FILE", Short: "Submit a job from a YAML or JSON file; - is standard input", Args: e.args("FILE"),
		Long: `Submit a job from a YAML or JSON file; - is standard input.

A file:
  name: nightly report
  tasks:
    - {key: fetch, service: http.get, params: {url: "https://example.org"}}
    - {key: parse, service: report.parse, needs: [fetch], timeout: 5m}
    - {key: mail, service: mail.send, needs: [parse], pool: mail, max_attempts: 5}

The fields of a task are those of the SQL type weir.task_spec.`,
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
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
			id, err := s.Client.SubmitJob(ctx, job)
			if err != nil {
				return err
			}
			o := e.output()
			if err := o.did(id.String(), struct {
				ID weir.ID `json:"id"`
			}{id}, "Submitted job %s with %s.", id, plural(len(job.Tasks), "task", "tasks")); err != nil {
				return err
			}
			if watch {
				return watchJob(ctx, o, s, id, false)
			}
			if o.table() {
				o.say("Watch it with: weir job watch %s", short(id))
			}
			return nil
		}),
	}
	c.Flags().StringVar(&name, "name", "", "name of the job, instead of the file's")
	c.Flags().StringVar(&key, "idempotency-key", "", "the same key gives the same job")
	c.Flags().BoolVar(&watch, "watch", false, "watch it until it has ended")
	return c
}
