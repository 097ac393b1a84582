package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
)

// The parts of an attempt's folder. The work sees only its own part.
//
//	DIR/attempts/<task>.<attempt>/
//	  attempt.json   what is run, for a later process of the agent
//	  journal.json   how much of its output is handled
//	  outcome.json   how it ended, if that could not be reported at once
//	  state/         the driver's notes
//	  around/        those on the commands before and after the work
//	  work/          what the work sees: params.json, out, in, secrets
const (
	attemptsFolder = "attempts"
	attemptFile    = "attempt.json"
	journalFile    = "journal.json"
	outcomeFile    = "outcome.json"
	stateFolder    = "state"
	workFolder     = "work"
)

// folder is the folder of one attempt.
type folder string

// Attempts returns the folder inside an agent's own that contains the folders of
// attempts, where drivers find what a previous process left.
func Attempts(dir string) string { return filepath.Join(dir, attemptsFolder) }

func folderOf(dir string, a node.Assignment) folder {
	return folder(filepath.Join(Attempts(dir), a.Task.String()+"."+strconv.Itoa(a.Attempt)))
}

func (f folder) path(parts ...string) string {
	return filepath.Join(append([]string{string(f)}, parts...)...)
}

// saved is what a later process of the agent must know.
type saved struct {
	Assignment node.Assignment `json:"assignment"`
	Run        node.Run        `json:"run"`
	Around     node.Around     `json:"around,omitzero"`
	// Phase is set while the command before the work runs.
	Phase string `json:"phase,omitempty"`
	// Secrets is set if the attempt was given secrets: their values must be fetched again
	// to be masked again.
	Secrets bool `json:"secrets,omitempty"`
	// Safe, Deadline and Until are uptimes: until when the lease certainly holds, when the
	// work's time is over, and when that of the whole attempt is, if that is later.
	Safe     time.Duration `json:"safe"`
	Deadline time.Duration `json:"deadline,omitempty"`
	Until    time.Duration `json:"until,omitempty"`
}

// journal records how much of the output of an attempt is handled.
type journal struct {
	Stdout int64           `json:"stdout"`
	Stderr int64           `json:"stderr"`
	Seq    int             `json:"seq"`
	Kept   int             `json:"kept"`
	Result json.RawMessage `json:"result,omitempty"`
	Events int             `json:"events,omitempty"`
}

// make creates the folder and the files that the work is given. It removes an earlier
// folder of the same attempt, which cannot have been used.
func (f folder) make(s saved, files map[string]string) error {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o711); err != nil { // #nosec G301 -- work that runs as another user must get through
		return err
	}
	if err := os.Mkdir(string(f), 0o711); err != nil { // #nosec G301 -- as above
		if !os.IsExist(err) {
			return err
		}
		if err := os.RemoveAll(string(f)); err != nil {
			return err
		}
		if err := os.Mkdir(string(f), 0o711); err != nil { // #nosec G301 -- as above
			return err
		}
	}
	for _, part := range []string{stateFolder, workFolder} {
		if err := os.Mkdir(f.path(part), 0o700); err != nil {
			return err
		}
	}
	if err := os.Mkdir(f.path(workFolder, driver.OutFolder), 0o700); err != nil {
		return err
	}
	params := s.Assignment.Params
	if len(params) == 0 {
		params = []byte("null")
	}
	if err := os.WriteFile(f.path(workFolder, driver.ParamsFile), params, 0o600); err != nil {
		return err
	}
	for name, value := range files {
		if err := f.secret(name, value); err != nil {
			return err
		}
	}
	return f.save(attemptFile, s)
}

// secret writes a file below the folder of secrets.
func (f folder) secret(name, value string) error {
	if !filepath.IsLocal(name) {
		return &refused{fmt.Errorf("files: %q is not a path below the folder of secrets", name)}
	}
	path := f.path(workFolder, driver.SecretsFolder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(value), 0o600)
}

// save writes one of the agent's own files atomically.
func (f folder) save(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	draft := f.path(name + ".new")
	if err := os.WriteFile(draft, text, 0o600); err != nil {
		return err
	}
	return os.Rename(draft, f.path(name))
}

func (f folder) load(name string, v any) error {
	text, err := os.ReadFile(f.path(name))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// remove deletes the folder, even if the work has removed its own permissions.
func (f folder) remove() error {
	err := os.RemoveAll(string(f))
	if err == nil {
		return nil
	}
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			return root.Chmod(path, 0o700)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(string(f)))
}
