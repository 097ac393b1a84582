package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
)

// tool is a program of our own. Names are as they were typed.
type tool func(here place, args []string) error

// place is where a tool works.
type place struct {
	interp.HandlerContext
}

// at is a path as the tool's folder sees it.
func (p place) at(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.Dir, name)
}

var tools = map[string]tool{
	"cat": cat, "ls": list, "mkdir": mkdir, "rm": remove, "mv": move, "cp": copyFiles, "touch": touch, "help": help,
}

// own runs our tools, where there is no program of that name, and what next runs otherwise.
func own(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		here := place{interp.HandlerCtx(ctx)}
		do := tools[args[0]]
		if do == nil {
			return next(ctx, args)
		}
		if _, err := interp.LookPathDir(here.Dir, here.Env, args[0]); err == nil {
			return next(ctx, args)
		}
		if err := do(here, args[1:]); err != nil {
			_, _ = fmt.Fprintf(here.Stderr, "%s: %v\n", args[0], err) // the status says it, too
			return interp.ExitStatus(1)
		}
		return nil
	}
}

// options takes the leading words that begin with a dash apart from the rest.
func options(args []string, known string) (map[rune]bool, []string, error) {
	found := map[rune]bool{}
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		word := args[0][1:]
		args = args[1:]
		if word == "-" {
			break
		}
		for _, letter := range word {
			if !strings.ContainsRune(known, letter) {
				return nil, nil, fmt.Errorf("there is no option -%c here", letter)
			}
			found[letter] = true
		}
	}
	return found, args, nil
}

// each does it for every name, and goes on after an error.
func each(names []string, do func(string) error) error {
	if len(names) == 0 {
		return errors.New("name a file")
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, do(name))
	}
	return errors.Join(errs...)
}

func cat(here place, args []string) error {
	if len(args) == 0 {
		_, err := io.Copy(here.Stdout, here.Stdin)
		return err
	}
	return each(args, func(name string) error {
		f, err := os.Open(here.at(name))
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(here.Stdout, f)
		return err
	})
}

func list(here place, args []string) error {
	options, names, err := options(args, "la1")
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	slices.Sort(names)
	return each(names, func(name string) error {
		info, err := os.Lstat(here.at(name))
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return line(here, name, info, options['l'])
		}
		if len(names) > 1 {
			if _, err := fmt.Fprintf(here.Stdout, "%s:\n", name); err != nil {
				return err
			}
		}
		entries, err := os.ReadDir(here.at(name))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), ".") && !options['a'] {
				continue
			}
			info, err := entry.Info()
			if err != nil {
				continue // it has gone
			}
			if err := line(here, entry.Name(), info, options['l']); err != nil {
				return err
			}
		}
		return nil
	})
}

func line(here place, name string, info os.FileInfo, long bool) (err error) {
	if long {
		_, err = fmt.Fprintf(here.Stdout, "%s %10d %s %s\n", info.Mode(), info.Size(), info.ModTime().Format("2006-01-02 15:04"), name)
	} else {
		_, err = fmt.Fprintln(here.Stdout, name)
	}
	return err
}

func mkdir(here place, args []string) error {
	options, names, err := options(args, "p")
	if err != nil {
		return err
	}
	return each(names, func(name string) error {
		if options['p'] {
			return os.MkdirAll(here.at(name), 0o755) // #nosec G301 -- as mkdir does
		}
		return os.Mkdir(here.at(name), 0o755) // #nosec G301 -- the same
	})
}

func remove(here place, args []string) error {
	options, names, err := options(args, "rf")
	if err != nil {
		return err
	}
	return each(names, func(name string) error {
		info, err := os.Lstat(here.at(name))
		switch {
		case errors.Is(err, os.ErrNotExist) && options['f']:
			return nil
		case err != nil:
			return err
		case !info.IsDir():
			return os.Remove(here.at(name))
		case options['r']:
			return os.RemoveAll(here.at(name))
		}
		return fmt.Errorf("%s is a folder: use rm -r", name)
	})
}

// onto is where something goes: into the folder of that name, if there is one.
func onto(here place, from, to string) string {
	to = here.at(to)
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		return filepath.Join(to, filepath.Base(from))
	}
	return to
}

func move(here place, args []string) error {
	if len(args) != 2 {
		return errors.New("say from where to where")
	}
	return os.Rename(here.at(args[0]), onto(here, args[0], args[1]))
}

func copyFiles(here place, args []string) error {
	options, names, err := options(args, "r")
	if err != nil {
		return err
	}
	if len(names) != 2 {
		return errors.New("say from where to where")
	}
	from, to := here.at(names[0]), onto(here, names[0], names[1])
	info, err := os.Stat(from)
	switch {
	case err != nil:
		return err
	case info.IsDir() && options['r']:
		return os.CopyFS(to, os.DirFS(from))
	case info.IsDir():
		return fmt.Errorf("%s is a folder: use cp -r", names[0])
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

func touch(here place, args []string) error {
	return each(args, func(name string) error {
		f, err := os.OpenFile(here.at(name), os.O_WRONLY|os.O_CREATE, 0o644) // #nosec G302 -- as touch does
		if err != nil {
			return err
		}
		now := time.Now()
		return errors.Join(f.Close(), os.Chtimes(here.at(name), now, now))
	})
}

func help(here place, _ []string) error {
	_, err := fmt.Fprintln(here.Stdout, "This image has no programs of its own. The shell knows the language of bash,\nand of programs: cat, cp, ls, mkdir, mv, rm and touch. The home is kept.")
	return err
}
