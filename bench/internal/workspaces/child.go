package workspaces

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/weirhq/weir/internal/cli"
)

const (
	// role turns a process into one of the parts below; its value names the part and its
	// spec.
	role = "WEIR_BENCH_WORKSPACES"
	// inside is the command of weir that runs in workspaces.
	inside = "workspace-inside"
)

// parts are the roles of this program.
var parts = map[string]func(ctx context.Context, spec json.RawMessage, in io.Reader, out io.Writer) error{
	"gate": serveGate, "home": packHome, "controller": control,
}

// part is a role with its spec.
type part struct {
	Name string          `json:"name"`
	Spec json.RawMessage `json:"spec"`
}

// Child runs a part in this process, if the process was started for that. It is called
// first in main.
func Child() {
	if len(os.Args) > 1 && os.Args[1] == inside {
		os.Exit(cli.Main("bench"))
	}
	text := os.Getenv(role)
	if text == "" {
		return
	}
	var p part
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = parts[p.Name](context.Background(), p.Spec, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: workspaces:", p.Name+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a running part. It ends when its input does.
type child struct {
	*exec.Cmd
	input io.Closer
	out   *bufio.Reader
	said  strings.Builder
}

func startPart(name string, spec any) (*child, error) {
	text, err := json.Marshal(spec)
	if err == nil {
		text, err = json.Marshal(part{name, text})
	}
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// If the benchmark is interrupted, the end of the input ends the child.
	c := &child{Cmd: exec.Command(program)}
	c.Env = append(os.Environ(), role+"="+string(text))
	c.Stderr = &c.said
	if c.input, err = c.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return c, nil
}

// hear reads a line of the part's output.
func (c *child) hear(into any) error {
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return errors.Join(fmt.Errorf("it says nothing: %w", err), c.stop())
	}
	return json.Unmarshal(line, into)
}

func (c *child) stop() error {
	_ = c.input.Close() // it may have ended
	if err := c.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, c.said.String())
	}
	return nil
}
