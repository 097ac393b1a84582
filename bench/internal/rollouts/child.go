package rollouts

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// variable turns a process into the victim of a crash.
const variable = "WEIR_BENCH_VICTIM"

// victim is what the process does until it is killed.
type victim struct {
	Tool, URL, Dir string
	List           []Migration
}

// ended is what it prints when the tool has returned.
const ended = "ended"

// Child applies the migrations that this process was started for, if it was, reports it
// and waits to be killed. It is called first in main.
func Child() {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var v victim
	err := json.Unmarshal([]byte(text), &v)
	if err == nil {
		err = apply(context.Background(), v.Tool, v.URL, v.Dir, v.List, 1)
	}
	fmt.Println(ended, err)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent is gone
	os.Exit(0)
}

// process is a running victim.
type process struct {
	cmd  *exec.Cmd
	said *bufio.Reader
}

func (v victim) start(ctx context.Context) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self) // #nosec G204 -- this program again
	cmd.Env = append(os.Environ(), variable+"="+string(text))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// Nothing is ever written: the pipe ends with this process, and the victim with it.
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return &process{cmd, bufio.NewReader(out)}, cmd.Start()
}

// finished waits until the tool has returned.
func (p *process) finished() error {
	line, err := p.said.ReadString('\n')
	if err == nil && line != ended+" <nil>\n" {
		err = errors.New(line)
	}
	return err
}

// kill is kill -9.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	_ = p.cmd.Wait() // its error is that it was killed
	return err
}
