package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Running is what a server tells about itself in its data folder.
type Running struct {
	DatabaseURL string    `json:"database_url"`
	Listen      string    `json:"listen"`
	URL         string    `json:"url"`
	Pid         int       `json:"pid"`
	Version     string    `json:"version"`
	StartedAt   time.Time `json:"started_at"`
	// Settings are those that commands of this machine should share with it, as
	// far as they are set: see shared.
	Settings map[string]string `json:"settings,omitempty"`
}

// shared are settings that say where a server keeps what is not in the database,
// and what it may do: a command beside it means the same.
var shared = []string{"bucket", "events_export", "secret_key_file", "wake_scripts", "wake_urls", "wake_broadcast", "workspace_providers", "workspace_images", "workspace_domain", "docker_host"}

// share are the shared settings of a server.
func (c Config) share() map[string]string {
	values := map[string]string{}
	for i := range settings {
		s := &settings[i]
		value := s.get(&c)
		if value == "" || !slices.Contains(shared, s.name) {
			continue
		}
		if s.name == "secret_key_file" || s.name == "wake_scripts" {
			if whole, err := filepath.Abs(value); err == nil {
				value = whole // a command may run in another folder
			}
		}
		values[s.name] = value
	}
	return values
}

// adopt takes over what a server shares, unless somebody said otherwise nearer
// by.
func (c *Config) adopt(r Running, values []Value) error {
	for i := range settings {
		s := &settings[i]
		value, ok := r.Settings[s.name]
		if !ok || slices.ContainsFunc(values, func(v Value) bool { return v.Name == s.name && rank(v) > 0 }) {
			continue
		}
		if err := s.set(c, value); err != nil {
			return fmt.Errorf("setting %s of the server: %w", s.name, err)
		}
	}
	return nil
}

func runningFile(data string) string { return filepath.Join(data, "server.json") }

// ReadRunning reads what the server in the folder told. After a kill -9 it may
// tell of a server that is gone.
func ReadRunning(data string) (Running, error) {
	var r Running
	text, err := os.ReadFile(runningFile(data))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read what runs in %s: %w", data, err)
	}
	return r, nil
}

// writeRunning replaces the file whole, so that a reader never sees half of it.
func writeRunning(data string, r Running) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(data, ".server-*.json") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), runningFile(data))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// removeRunning takes the file away if it is still ours.
func removeRunning(data string) error {
	if r, err := ReadRunning(data); err != nil || r.Pid != os.Getpid() {
		return nil
	}
	if err := os.Remove(runningFile(data)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// makeFolder makes the data folder. Started by root, the server of PostgreSQL
// is another user and must be able to pass through; what is inside is private.
func makeFolder(data string) error {
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711
	}
	if err := os.MkdirAll(data, mode); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	return nil
}
