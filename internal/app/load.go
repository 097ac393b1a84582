package app

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Source is where settings come from. Flags win over the environment, that over
// the file, that over the defaults.
type Source struct {
	// Flags are those that were given, by the name of their setting.
	Flags map[string]string
	// Env looks up a variable. Nil: the process's environment.
	Env func(string) (string, bool)
	// File is a TOML file. Empty: WEIR_CONFIG, else the first well-known one
	// that exists, else none.
	File string
}

// Value is a setting with its origin.
type Value struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Default string `json:"default"`
	// Origin is default, a flag, a variable or a file.
	Origin   string `json:"origin"`
	Variable string `json:"variable"`
	Help     string `json:"help"`
}

// Setting describes a setting to those who offer it as a flag.
type Setting struct{ Name, Flag, Variable, Help, Default string }

// Settings are all settings, in the order to show them.
func Settings() []Setting {
	out := make([]Setting, len(settings))
	for i := range settings {
		s := &settings[i]
		out[i] = Setting{Name: s.name, Flag: s.flag(), Variable: s.env(), Help: s.help, Default: s.shownDefault()}
	}
	return out
}

// shownDefault is the default in words that are true on every machine.
func (s *setting) shownDefault() string {
	switch s.name {
	case "data":
		return "./.weir if it is there, else the user's state folder"
	case "node_name":
		return "the host's name"
	case "drain_delay":
		return formatDuration(drainServer) + " with weir server, none with weir up"
	}
	if s.def == nil {
		return ""
	}
	return s.def()
}

// Load reads the configuration. If something is wrong with it, the error names
// every fault; the values are still those that could be read.
func Load(src Source) (Config, []Value, error) {
	env := src.Env
	if env == nil {
		env = os.LookupEnv
	}
	var f faults
	path, inFile := readFile(src.File, env, &f)
	var c Config
	values := make([]Value, 0, len(settings))
	for i := range settings {
		s := &settings[i]
		v := Value{Name: s.name, Variable: s.env(), Help: s.help, Origin: "default", Default: s.shownDefault()}
		var given string
		if text, ok := src.Flags[s.name]; ok {
			given, v.Origin = text, "--"+s.flag()
		} else if text, variable := s.from(env); text != "" {
			given, v.Origin = text, variable
		} else if text, ok := inFile[s.name]; ok {
			given, v.Origin = text, path
		}
		if given != "" {
			if err := s.set(&c, given); err != nil {
				f.addFrom(s.name, v.Origin, err)
			}
		}
		values = append(values, v)
	}
	c = c.Defaults()
	for i := range settings {
		values[i].Value = settings[i].get(&c)
		if mask := settings[i].mask; mask != nil {
			values[i].Value = mask(values[i].Value)
		}
	}
	// What did not parse has its default by now, so nothing is reported twice.
	if more := new(ConfigError); errors.As(c.Validate(), &more) {
		f.take(more, values)
	}
	return c, values, f.err()
}

// readFile reads the file into strings by the name of the setting. A table is a
// prefix: [coordinator] ttl is coordinator_ttl.
func readFile(path string, env func(string) (string, bool), f *faults) (string, map[string]string) {
	asked := path != ""
	if !asked {
		path, asked = env("WEIR_CONFIG")
		asked = asked && path != ""
	}
	if !asked {
		path = wellKnownFile()
	}
	if path == "" {
		return "", nil
	}
	var tree map[string]any
	if _, err := toml.DecodeFile(path, &tree); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("there is no such file")
		}
		f.addFile(path, err)
		return path, nil
	}
	flat := map[string]string{}
	flatten(flat, "", tree)
	for _, name := range slices.Sorted(maps.Keys(flat)) {
		if !slices.ContainsFunc(settings, func(s setting) bool { return s.name == name }) {
			f.addFile(path, fmt.Errorf("%s: there is no such setting; weir config lists them", name))
		}
	}
	return path, flat
}

func flatten(into map[string]string, prefix string, tree map[string]any) {
	for key, v := range tree {
		name := prefix + strings.ReplaceAll(key, "-", "_")
		if table, ok := v.(map[string]any); ok {
			flatten(into, name+"_", table)
			continue
		}
		into[name] = fmt.Sprint(v)
	}
}

// wellKnownFile is the first configuration file that exists, or "".
func wellKnownFile() string {
	places := []string{"/etc/weir/weir.toml"}
	if dir, err := os.UserConfigDir(); err == nil {
		places = append([]string{filepath.Join(dir, "weir", "weir.toml")}, places...)
	}
	for _, path := range places {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}
