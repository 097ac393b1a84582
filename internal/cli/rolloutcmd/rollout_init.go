package rolloutcmd

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
)

// rolloutStarter is a plan that says in comments what else there is.
//
//go:embed rollout_starter.yaml
var rolloutStarter string

// firstChange is a change to begin with. Every engine takes it.
const firstChange = `-- The name of this file gives its version. Directives may stand here:
-- weir: lock_timeout=2s statement_timeout=10m
create table greeting (
  id    bigint primary key,
  words varchar(200) not null default 'hello'
);
`

// otherFolder and initAgain are what to do where a file is there already.
const otherFolder, initAgain = "edit it, or name another folder", "weir rollout init FOLDER"

func rolloutInit(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "init [FOLDER]", Short: "Write a plan to begin with, beside a folder of SQL files", Args: e.AtMost("FOLDER"),
		Long: `Write FOLDER/rollout.yaml, a plan with comments to begin with. SQL files that lie in
FOLDER or in FOLDER/migrations are its changes; without any, a first one is written.
A file that is there already stays as it is.`,
		Example: "  weir rollout init\n  weir rollout init orders",
		RunE: e.Run(func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			if err := os.MkdirAll(dir, 0o755); err != nil { // #nosec G301 -- a folder for the person who named it
				return command.Invalid("name a folder", "%s", err)
			}
			path := filepath.Join(dir, planFile)
			if _, err := os.Stat(path); err == nil {
				return problem.New(problem.Conflict, otherFolder, "%s is there already", path).Run(initAgain)
			}
			changes, wrote, err := changesIn(dir)
			if err != nil {
				return err
			}
			text := strings.NewReplacer("{{FILE}}", path, "{{NAME}}", nameOf(dir), "{{CHANGES}}", changes).Replace(rolloutStarter)
			if err := command.WriteNew(path, text, otherFolder, initAgain); err != nil {
				return err
			}
			files := []string{path}
			if wrote != "" {
				files = append(files, wrote)
			}
			return e.Output().Did(path, struct {
				File  string   `json:"file"`
				Files []string `json:"files"`
			}{path, files}, "Wrote %s.\nSee what it would do with: weir rollout plan %s", strings.Join(files, " and "), path)
		}),
	}
}

// changesIn finds the SQL files that a plan in dir is for, or writes a first one, which
// it names.
func changesIn(dir string) (folder, wrote string, err error) {
	const usual = "migrations"
	for _, at := range []string{".", usual} {
		if found, _ := filepath.Glob(filepath.Join(dir, at, "*.sql")); len(found) > 0 {
			return at, "", nil
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, usual), 0o755); err != nil { // #nosec G301 -- a folder for the person who named it
		return "", "", err
	}
	wrote = filepath.Join(dir, usual, "V001__greeting.sql")
	return usual, wrote, command.WriteNew(wrote, firstChange, otherFolder, initAgain)
}
