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

// The parts of an attempt's folder. The work sees its own part alone.
//
//	DIR/attempts/<task>.<attempt>/
//	  attempt.json   what is run, for a later life of the agent
//	  journal.json   how far its output is dealt with
//	  outcome.json   how it ended, if that could not be told at once
//	  state/         the driver's notes
//	  work/          what the work sees: params.json, out, in, secrets
const (
	attemptsFolder = "attempts"
	attemptFile    = "attempt.json"
	journalFile    = "journal.json"
	outcomeFile    = "outcome.json"
	stateFolder    = "state"
	workFolder     = "work"
)

// folder is that of one attempt.
type folder string

// Attempts is the folder below an agent's own that holds the folders of
// attempts: where drivers find what an earlier life left.
func Attempts(dir string) string { return filepath.Join(dir, attemptsFolder) }

func folderOf(dir string, a node.Assignment) folder {
	return folder(filepath.Join(Attempts(dir), a.Task.String()+"."+strconv.Itoa(a.Attempt)))
}

func (f folder) path(parts ...string) string {
	return filepath.Join(append([]string{string(f)}, parts...)...)
}

// saved is what a later life of the agent must know.
type saved struct {
	Assignment node.Assignment `json:"assignment"`
	Run        node.Run        `json:"run"`
	// Secrets are the names of those it was given: their values must be fetched
	// again to be masked again.
	Secrets bool `json:"secrets,omitempty"`
	// Safe and Deadline are uptimes: until when the lease surely holds, and when
	// the attempt's time is over.
	Safe     time.Duration `json:"safe"`
	Deadline time.Duration `json:"deadline,omitempty"`
}

// journal is how far the output of an attempt is dealt with.
type journal struct {
	Stdout int64           `json:"stdout"`
	Stderr int64           `json:"stderr"`
	Seq    int             `json:"seq"`
	Kept   int             `json:"kept"`
	Result json.RawMessage `json:"result,omitempty"`
	Events int             `json:"events,omitempty"`
}

// make creates the folder and what the work is given. An earlier one of the
// same attempt, which cannot have been used, goes.
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

// save writes one of our own files whole.
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

// remove deletes the folder, also where the work has taken its own rights away.
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
