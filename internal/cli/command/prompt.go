package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/weirhq/weir/internal/problem"
)

// secretMost is more than any token or password needs.
const secretMost = 4096

// StdinSecret reads a secret from the next line of standard input. On the
// command line others could read it: every process of the machine sees that.
func (e *Env) StdinSecret(what string) (string, error) {
	if e.typed == nil {
		e.typed = bufio.NewReaderSize(e.In, secretMost)
	}
	text, err := e.typed.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", problem.Refuse(what, "give it on standard input, in one line", "what came on standard input is too long, or cannot be read: %s", err)
	}
	line := strings.TrimRight(string(text), "\r\n")
	if line == "" {
		return "", problem.Refuse(what, "give it on standard input, in one line", "nothing came on standard input")
	}
	return line, nil
}

// AskSecret asks a person for a secret and does not show what is typed. flag is
// how a program gives it instead.
func (e *Env) AskSecret(prompt, flag string) (string, error) {
	f, err := e.Asking(prompt, flag)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(e.Err, "%s: ", prompt)
	text, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(e.Err)
	if err != nil {
		return "", fmt.Errorf("read the %s: %w", strings.ToLower(prompt), err)
	}
	return string(text), nil
}

// Ask asks a person for a line; an empty one is the default.
func (e *Env) Ask(prompt, def, flag string) (string, error) {
	f, err := e.Asking(prompt, flag)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(e.Err, "%s [%s]: ", prompt, def)
	// Byte by byte: a reader with a buffer would swallow the password.
	var line []byte
	for one := make([]byte, 1); len(line) < secretMost; {
		n, err := f.Read(one)
		if n == 0 || err != nil || one[0] == '\n' {
			break
		}
		line = append(line, one[0])
	}
	if text := strings.TrimSpace(string(line)); text != "" {
		return text, nil
	}
	return def, nil
}

// Asking is the terminal of a person who can answer.
func (e *Env) Asking(prompt, flag string) (*os.File, error) {
	f, ok := e.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, problem.New(problem.Invalid, "give it with "+flag, "nobody is there to ask for: %s", strings.ToLower(prompt))
	}
	return f, nil
}

// NewPassword reads a new password: from standard input, or twice from a person.
func (e *Env) NewPassword(fromStdin bool) (string, error) {
	if fromStdin {
		return e.StdinSecret("password")
	}
	first, err := e.AskSecret("New password", "--password-stdin")
	if err != nil {
		return "", err
	}
	second, err := e.AskSecret("Once more", "--password-stdin")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", problem.Refuse("password", "try again", "the two are not the same")
	}
	return first, nil
}
