package workcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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

func jobArtifacts(e *command.Env) *cobra.Command {
	var into string
	var force bool
	c := &cobra.Command{
		Use: "artifacts ID|NAME", Short: "List what the tasks of a job left, or fetch it all", Args: e.Args("ID"),
		Long: `List what the tasks of a job left. With --download it is fetched into a folder, as
STEP/NAME; of several attempts the newest counts.`,
		Example: "  weir job artifacts 8057b302099a\n  weir job artifacts nightly --download out",
		RunE: e.Session(func(ctx context.Context, s *app.Session, args []string) error {
			found, err := jobOutputs(ctx, s, args[0])
			if err != nil {
				return err
			}
			o := e.Output()
			if into == "" {
				shown := artifactListing
				shown.Empty = []string{"This job left no artifacts."}
				return shown.Print(o, found)
			}
			return download(ctx, e, o, s, newest(found), into, force)
		}),
	}
	c.Flags().StringVar(&into, "download", "", "`folder` to fetch them into; it is made")
	c.Flags().BoolVar(&force, "force", false, "replace files that are there")
	command.SettingFlags(c, false, "bucket")
	return c
}

// jobOutputs reads all artifacts of a job, newest first.
func jobOutputs(ctx context.Context, s *app.Session, job string) ([]view.Artifact, error) {
	return op.Each(ctx, s.Operations, work.JobArtifacts, work.ArtifactsOfJob{Job: job})
}

// newest keeps the outputs of the newest attempt of each task that left them.
func newest(all []view.Artifact) (kept []view.Artifact) {
	type file struct {
		task weir.ID
		name string
	}
	seen := map[file]bool{}
	for _, a := range all {
		if f := (file{a.Task, a.Name}); a.Kind == "output" && !seen[f] {
			seen[f] = true
			kept = append(kept, a)
		}
	}
	return kept
}

func download(ctx context.Context, e *command.Env, o *command.Output, s *app.Session, all []view.Artifact, into string, force bool) error {
	files := make([]string, 0, len(all))
	for _, a := range all {
		local := filepath.FromSlash(path.Join(artifactTask(a), a.Name))
		if !filepath.IsLocal(local) {
			return problem.New(problem.Failed, "fetch it by hand", "artifact %d has a name that leads out of the folder", a.ID).Run("weir artifact get ID --to FILE")
		}
		file := filepath.Join(into, local)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return err
		}
		if err := saveArtifact(ctx, s, a, file, force); err != nil {
			return err
		}
		files = append(files, file)
		if o.Format == "name" {
			fmt.Fprintln(o.Out, command.Clean(file))
		}
	}
	switch {
	case o.Format == "name":
		return nil
	case len(files) == 0 && o.Table():
		o.Say("This job left no artifacts.")
		return nil
	}
	return o.Did("", struct {
		Files []string `json:"files"`
	}{files}, "Wrote %s into %s.", command.Plural(len(files), "file", "files"), command.Clean(into))
}

// saveArtifact writes an artifact into a file: whole, or not at all.
func saveArtifact(ctx context.Context, s *app.Session, a view.Artifact, file string, force bool) error {
	if _, err := os.Lstat(file); err == nil && !force {
		return problem.New(problem.Conflict, "replace it with --force, or write elsewhere", "%s is there already", file)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	body, err := s.Content(ctx, a)
	if err != nil {
		return err
	}
	defer body.Close()
	part, err := os.CreateTemp(filepath.Dir(file), "."+strings.TrimPrefix(filepath.Base(file), ".")+".*")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	_, err = io.Copy(part, body)
	if err := errors.Join(err, part.Chmod(0o644), part.Close()); err != nil {
		return fmt.Errorf("fetch %s: %w", a.Name, err)
	}
	return os.Rename(part.Name(), file)
}
