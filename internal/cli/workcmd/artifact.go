package workcmd

import (
	"context"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

// Artifact is the command weir artifact.
func Artifact(e *command.Env) *cobra.Command {
	return e.Noun("artifact", "Files that tasks left", []string{"artifacts"}, artifactList(e), artifactGet(e))
}

func artifactList(e *command.Env) *cobra.Command {
	var f work.ListingArtifacts
	var page view.Page
	var job, task string
	c := &cobra.Command{Short: "List the artifacts of a job or a task, newest first", Example: "  weir artifact list --job 8057b302099a\n  weir artifact list --task 8057b302099a/render -o json"}
	command.ListCommand(e, c, func(ctx context.Context, s *app.Session, _ []string) (l command.List[view.Artifact], err error) {
		if job == "" && task == "" {
			return l, command.Invalid("give --job ID or --task ID; weir job list shows jobs", "artifacts are listed by job or by task")
		}
		f.Paged = op.Paged{Limit: page.Limit, After: page.After}
		read := func(ctx context.Context) (op.Page[view.Artifact], error) {
			return work.JobArtifacts.Call(ctx, s.Operations, &work.ArtifactsOfJob{Job: job, ListingArtifacts: f})
		}
		if task != "" {
			id, err := FindTask(ctx, s, task)
			if err != nil {
				return l, err
			}
			read = func(ctx context.Context) (op.Page[view.Artifact], error) {
				return work.TaskArtifacts.Call(ctx, s.Operations, &work.ArtifactsOfTask{Task: id.String(), ListingArtifacts: f})
			}
		}
		return command.PlainList(page, artifactListing, func(ctx context.Context, _ view.Page) ([]view.Artifact, error) {
			found, err := read(ctx)
			return found.Items, err
		}), nil
	})
	flags := c.Flags()
	flags.StringVar(&job, "job", "", "only those of this job: its id, or its name")
	flags.StringVar(&task, "task", "", "only those of this task: its id, or JOB/STEP")
	flags.IntVar(&f.Attempt, "attempt", 0, "only those of this attempt")
	flags.StringVar(&f.Kind, "kind", "", "only input, output or log")
	flags.StringVar(&f.Name, "name", "", "only those of this name")
	command.PageFlags(c, &page, "id")
	return c
}

var artifactListing = command.Listing[view.Artifact]{
	Name:  func(a view.Artifact) string { return strconv.FormatInt(a.ID, 10) },
	Empty: []string{"There are no such artifacts.", "What a step leaves in $WEIR_OUT is kept; weir workflow init writes an example"},
	Columns: []command.Column[view.Artifact]{
		{Title: "ID", Value: func(_ *command.Output, a view.Artifact) string { return strconv.FormatInt(a.ID, 10) }},
		{Title: "TASK", Narrow: true, Value: func(_ *command.Output, a view.Artifact) string { return artifactTask(a) }},
		{Title: "TASK", Wide: true, Value: func(_ *command.Output, a view.Artifact) string { return a.Task.String() }},
		{Title: "ATTEMPT", Value: func(_ *command.Output, a view.Artifact) string { return strconv.Itoa(a.Attempt) }},
		{Title: "KIND", Value: func(_ *command.Output, a view.Artifact) string { return a.Kind }},
		{Title: "SIZE", Value: func(_ *command.Output, a view.Artifact) string { return command.BytesText(a.Size) }},
		{Title: "TYPE", Value: func(_ *command.Output, a view.Artifact) string { return a.ContentType }},
		{Title: "SHA256", Wide: true, Value: func(_ *command.Output, a view.Artifact) string { return a.SHA256 }},
		{Title: "CREATED", Ages: true, Value: func(o *command.Output, a view.Artifact) string { return o.Ago(a.At) }},
		{Title: "NAME", Value: func(_ *command.Output, a view.Artifact) string { return a.Name }},
	},
}

func artifactTask(a view.Artifact) string {
	if a.TaskKey != "" {
		return a.TaskKey
	}
	return command.Short(a.Task)
}

func artifactGet(e *command.Env) *cobra.Command {
	var to string
	var force bool
	c := &cobra.Command{
		Use: "get ID|TASK/NAME", Short: "Fetch an artifact and check that it is whole", Args: e.Args("ID or TASK/NAME"),
		Long: `Fetch an artifact into a file, or print it. It is named by its id, or by its task
and its name: TASK/NAME or JOB/STEP/NAME; of several attempts the newest counts.`,
		Example: "  weir artifact get 17\n  weir artifact get 8057b302099a/report/report.txt --to -\n  weir artifact get 17 --to report.txt --force",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			a, err := findArtifact(ctx, s, args[0])
			if err != nil {
				return err
			}
			if to == "-" {
				body, err := s.Content(ctx, a)
				if err != nil {
					return err
				}
				defer body.Close()
				_, err = io.Copy(e.Out, body)
				return err
			}
			file := to
			if file == "" {
				file = path.Base(a.Name)
			}
			if err := saveArtifact(ctx, s, a, file, force); err != nil {
				return err
			}
			return e.Output().Did(file, struct {
				File string `json:"file"`
				view.Artifact
			}{file, a}, "Wrote %s, %s.", command.Clean(file), command.BytesText(a.Size))
		}),
	}
	c.Flags().StringVar(&to, "to", "", "`file` to write; - prints it; default: its name, here")
	c.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	command.SettingFlags(c, false, "bucket")
	return c
}

// findArtifact reads which artifact is meant.
func findArtifact(ctx context.Context, s *app.Session, text string) (view.Artifact, error) {
	const next = "see them with: weir artifact list --job ID"
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		return work.ShowArtifact.Call(ctx, s.Operations, &work.NamedArtifact{Artifact: id})
	}
	task, name, ok := strings.Cut(text, "/")
	if !ok || name == "" {
		return view.Artifact{}, command.Invalid("give its id, TASK/NAME or JOB/STEP/NAME; "+next, "%q is not an artifact", text)
	}
	a, found, err := artifactOf(ctx, s, task, name)
	if found || err != nil && !strings.Contains(name, "/") {
		return a, err
	}
	if step, rest, ok := strings.Cut(name, "/"); ok {
		if a, found, err = artifactOf(ctx, s, task+"/"+step, rest); found || err != nil {
			return a, err
		}
	}
	return view.Artifact{}, problem.New(problem.NotFound, next, "there is no artifact %s", command.Clean(text))
}

// artifactOf finds the newest artifact of a task by its name.
func artifactOf(ctx context.Context, s *app.Session, task, name string) (a view.Artifact, found bool, err error) {
	var id weir.ID
	if id, err = FindTask(ctx, s, task); err != nil {
		return a, false, err
	}
	in := &work.ArtifactsOfTask{Task: id.String(), ListingArtifacts: work.ListingArtifacts{Name: name, Paged: op.Paged{Limit: 1}}}
	list, err := work.TaskArtifacts.Call(ctx, s.Operations, in)
	if err != nil || len(list.Items) == 0 {
		return a, false, err
	}
	return list.Items[0], true, nil
}
