package command

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Lead prints an address, and opens it in the browser unless it is only to be printed.
func (e *Env) Lead(address string, onlyPrint bool) error {
	if err := e.Output().Did(address, struct {
		URL string `json:"url"`
	}{address}, "%s", address); err != nil || onlyPrint {
		return err
	}
	if err := browse(address); err != nil {
		e.Output().Say("The browser could not be opened (%s): open the address yourself.", err)
	}
	return nil
}

// browse opens an address in the browser of this user. A link logs in, so it
// must not stand on a command line, which everybody on the machine can read: the
// browser gets a page of our own that leads there.
func browse(address string) error {
	folder, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	folder = filepath.Join(folder, "weir")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	path := filepath.Join(folder, "open.html")
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := fmt.Sprintf("<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer><meta http-equiv=refresh content=\"0;url=%s\"><title>Weir</title><a href=\"%[1]s\">Open Weir</a>\n", html.EscapeString(address))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	return exec.Command(program, path).Start() // #nosec G204 -- a fixed program and a path of our own
}
