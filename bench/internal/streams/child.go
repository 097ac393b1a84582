package streams

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// child is the running server process.
type child struct {
	address string
	process *exec.Cmd
	input   io.Closer
}

func startChild(ctx context.Context, databaseURL string) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{process: exec.CommandContext(ctx, program)}
	c.process.Env = append(os.Environ(), variable+"="+databaseURL)
	c.process.Stderr = os.Stderr
	input, err := c.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	c.input = input
	output, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server process says nothing: %w", err), c.stop())
	}
	c.address = strings.TrimSpace(line)
	return c, nil
}

func (c *child) stop() error { return errors.Join(c.input.Close(), c.process.Wait()) }

func (c *child) memory(ctx context.Context) (m Memory, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.address+"/memory", nil)
	if err != nil {
		return m, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return m, err
	}
	defer answer.Body.Close()
	return m, json.NewDecoder(answer.Body).Decode(&m)
}
