package cli

import (
	"context"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/work"
)

func (e *env) artifact() *cobra.Command {
	return e.noun("artifact", "Files that tasks left", []string{"artifacts"}, e.artifactList(), e.artifactGet())
}

func (e *env) artifactList() *cobra.Command {
	var f work.ListingArtifacts
	var page view.Page
	var job, task string
	c := &cobra.Command{Short: "List the artifacts of a job or a task, newest first", Example: "  weir artifact list --job 8057b302099a\n  weir artifact list --task 8057b302099a/render -o json"}
	listCommand(e, c, func(ctx context.Context, s *app.Session, _ []string) (l list[view.Artifact], err error) {
		if job == "" && task == "" {
			return l, invalid("give --job ID or --task ID; weir job list shows jobs", "artifacts are listed by job or by task")
		}
		f.Paged = op.Paged{Limit: page.Limit, After: page.After}
		read := func(ctx context.Context) (op.Page[view.Artifact], error) {
			return work.JobArtifacts.Call(ctx, s.Operations, &work.ArtifactsOfJob{Job: job, ListingArtifacts: f})
		}
		if task != "" {
			id, err := findTask(ctx, s, task)
			if err != nil {
				return l, err
			}
			read = func(ctx context.Context) (op.Page[view.Artifact], error) {
				return work.TaskArtifacts.Call(ctx, s.Operations, &work.ArtifactsOfTask{Task: id.String(), ListingArtifacts: f})
			}
		}
		return plainList(page, artifactListing, func(ctx context.Context, _ view.Page) ([]view.Artifact, error) {
			found, err := read(ctx)
			return found.Items, err
		}), nil
	})
	flags := c.Flags()
	flags.StringVar(&job, "job", "", "only those of this job")
	flags.StringVar(&task, "task", "", "only those of this task: its id, or JOB/STEP")
	flags.IntVar(&f.Attempt, "attempt", 0, "only those of this attempt")
	flags.StringVar(&f.Kind, "kind", "", "only input, output or log")
	flags.StringVar(&f.Name, "name", "", "only those of this name")
	pageFlags(c, &page, "id")
	return c
}

var artifactListing = listing[view.Artifact]{
	name:  func(a view.Artifact) string { return strconv.FormatInt(a.ID, 10) },
	empty: []string{"There are no such artifacts.", "What a step leaves in $WEIR_OUT is kept; weir workflow init writes an example"},
	columns: []column[view.Artifact]{
		{title: "ID", value: func(_ *output, a view.Artifact) string { return strconv.FormatInt(a.ID, 10) }},
		{title: "TASK", narrow: true, value: func(_ *output, a view.Artifact) string { return artifactTask(a) }},
		{title: "TASK", wide: true, value: func(_ *output, a view.Artifact) string { return a.Task.String() }},
		{title: "ATTEMPT", value: func(_ *output, a view.Artifact) string { return strconv.Itoa(a.Attempt) }},
		{title: "KIND", value: func(_ *output, a view.Artifact) string { return a.Kind }},
		{title: "SIZE", value: func(_ *output, a view.Artifact) string { return bytesText(a.Size) }},
		{title: "TYPE", value: func(_ *output, a view.Artifact) string { return a.ContentType }},
		{title: "SHA256", wide: true, value: func(_ *output, a view.Artifact) string { return a.SHA256 }},
		{title: "CREATED", ages: true, value: func(o *output, a view.Artifact) string { return o.ago(a.At) }},
		{title: "NAME", value: func(_ *output, a view.Artifact) string { return a.Name }},
	},
}

func artifactTask(a view.Artifact) string {
	if a.TaskKey != "" {
		return a.TaskKey
	}
	return short(a.Task)
}

func (e *env) artifactGet() *cobra.Command {
	var to string
	var force bool
	c := &cobra.Command{
		Use: "get ID|TASK/NAME", Short: "Fetch an artifact and check that it is whole", Args: e.args("ID or TASK/NAME"),
		Long: `Fetch an artifact into a file, or print it. It is named by its id, or by its task
and its name: TASK/NAME or JOB/STEP/NAME; of several attempts the newest counts.`,
		Example: "  weir artifact get 17\n  weir artifact get 8057b302099a/report/report.txt --to -\n  weir artifact get 17 --to report.txt --force",
		RunE: e.session(func(ctx context.Context, s *app.Session, args []string) error {
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
			return e.output().did(file, struct {
				File string `json:"file"`
				view.Artifact
			}{file, a}, "Wrote %s, %s.", clean(file), bytesText(a.Size))
		}),
	}
	c.Flags().StringVar(&to, "to", "", "`file` to write; - prints it; default: its name, here")
	c.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	settingFlags(c, false, "bucket")
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
		return view.Artifact{}, invalid("give its id, TASK/NAME or JOB/STEP/NAME; "+next, "%q is not an artifact", text)
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
	return view.Artifact{}, problem.New(problem.NotFound, next, "there is no artifact %s", clean(text))
}

// artifactOf finds the newest artifact of a task by its name.
func artifactOf(ctx context.Context, s *app.Session, task, name string) (a view.Artifact, found bool, err error) {
	var id weir.ID
	if id, err = findTask(ctx, s, task); err != nil {
		return a, false, err
	}
	in := &work.ArtifactsOfTask{Task: id.String(), ListingArtifacts: work.ListingArtifacts{Name: name, Paged: op.Paged{Limit: 1}}}
	list, err := work.TaskArtifacts.Call(ctx, s.Operations, in)
	if err != nil || len(list.Items) == 0 {
		return a, false, err
	}
	return list.Items[0], true, nil
}
