package workflowcmd

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// isFile says that an argument is a file and not the name of a workflow.
func isFile(arg string) bool {
	switch strings.ToLower(filepath.Ext(arg)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return arg == "-" || strings.ContainsRune(arg, filepath.Separator)
}

// workflowFile is a file that was read: what it says, or what is wrong with it.
type workflowFile struct {
	path       string
	source     string
	definition *definition.Definition
	faults     definition.Faults
}

// readWorkflow reads and checks a definition; - is standard input. That it is
// wrong is no error here: see check.
func readWorkflow(e *command.Env, path string) (workflowFile, error) {
	f := workflowFile{path: path}
	text, err := command.ReadFile(path, e.In, command.DefinitionMost)
	if err != nil {
		return f, command.Invalid("give a YAML or JSON file; weir workflow init writes one to begin with", "read the workflow: %s", err)
	}
	name := path
	if path == "-" {
		name = "stdin"
	}
	f.source = string(text)
	if f.definition, f.faults = definition.Parse(name, text); f.definition != nil {
		f.faults = append(f.faults, f.definition.Lint()...)
		f.faults = append(f.faults, f.definition.Past(time.Now())...)
	}
	return f, nil
}

// check is the error of a definition that cannot be used.
func (f workflowFile) check() error {
	bad := f.faults.Errors()
	if len(bad) == 0 {
		return nil
	}
	return &problem.Problem{Kind: problem.Invalid, What: bad.Error(), Next: "mend the file; weir workflow lint checks it without a server", Field: bad[0].Path, Err: bad}
}

// usable reads a definition that is to be used, and tells its warnings.
func usable(e *command.Env, path string) (workflowFile, error) {
	f, err := readWorkflow(e, path)
	if err != nil {
		return f, err
	}
	if err := f.check(); err != nil {
		return f, err
	}
	if o := e.Output(); o.Table() {
		for _, warning := range f.faults {
			o.Say("%s", command.CleanLines(warning.String()))
		}
	}
	return f, nil
}
