package device

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pgtext"
	"github.com/weirhq/weir/internal/problem"
)

const (
	// commandWithin is the timeout of a program that lists devices.
	commandWithin = 20 * time.Second
	// commandGrace is how long the output of an ended program is waited for, because a
	// child that it left behind may hold the output open.
	commandGrace = 2 * time.Second
	// outputMost is how many bytes a program may print.
	outputMost = 1 << 20
)

// Command is a source that runs a program: the program prints one device per line, as
// JSON or as a serial alone, and exits with 0.
type Command struct{ run runner }

// OpenCommand makes a source of a program and its arguments. The arguments do not pass
// through a shell.
func OpenCommand(argv []string) (*Command, error) {
	run, err := newRunner(argv)
	return &Command{run}, err
}

func (c *Command) String() string { return strings.Join(c.run.argv, " ") }

// List runs the program.
func (c *Command) List(ctx context.Context) (Listing, error) {
	text, err := c.run.output(ctx)
	if err != nil {
		return Listing{}, err
	}
	return parseLines(text)
}

// parseLines reads the output of a program. A line that is neither JSON nor a serial
// fails the whole listing, because leaving it out would mean that its device is gone.
func parseLines(text []byte) (Listing, error) {
	var devices []node.Device
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		d := node.Device{Serial: string(line)}
		if line[0] == '{' {
			d = node.Device{}
			in := json.NewDecoder(bytes.NewReader(line))
			in.DisallowUnknownFields()
			if err := in.Decode(&d); err != nil || in.More() {
				return Listing{}, fault("line "+fmt.Sprint(number), 0, "", `print {"serial": "…", "target": "…", "hub": "…", "labels": {…}} or a serial alone`, "it is no device: %s", reason(err))
			}
		}
		if err := d.Check(); err != nil {
			p := problem.Explain(err)
			return Listing{}, fault("line "+fmt.Sprint(number), 0, p.Field, p.Next, "%s", p.Sentence())
		}
		devices = append(devices, d)
	}
	return listing(devices, nil)
}

func reason(err error) string {
	if err == nil {
		return "something follows it"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// runner runs a program of the operator and captures its output.
type runner struct {
	argv   []string
	file   string
	within time.Duration
}

func newRunner(argv []string) (runner, error) {
	r := runner{argv: argv, within: commandWithin}
	if len(argv) == 0 || argv[0] == "" {
		return r, problem.Refuse("devices", "name a program", "the command is empty")
	}
	file, err := exec.LookPath(argv[0])
	if err != nil {
		return r, problem.Refuse("devices", "install it, or give its whole path", "there is no program %s in PATH", argv[0])
	}
	r.file = file
	return r, nil
}

// output runs the program with more arguments. Any failure is an error: the output of a
// failed program is never used.
func (r runner) output(ctx context.Context, more ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, r.within)
	defer cancel()
	args := append(append([]string{}, r.argv[1:]...), more...)
	cmd := exec.CommandContext(ctx, r.file, args...) // #nosec G204 -- the operator of this machine gave the program, and no shell reads the words
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// The whole process group is killed, or else a child would live on.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = commandGrace
	stdout, stderr := &bounded{most: outputMost}, &bounded{most: 4 << 10}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	name := strings.Join(append(r.argv[:1:1], args...), " ")
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("%s did not end within %s and was killed", name, r.within)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // a process that the program left behind is not an error
		return nil, fmt.Errorf("%s: %w%s", name, err, said(stderr.text))
	case stdout.over:
		return nil, fmt.Errorf("%s printed more than %d bytes", name, outputMost)
	}
	return stdout.text, nil
}

func said(text []byte) string {
	line := strings.Join(strings.Fields(pgtext.Text(string(text))), " ")
	if line == "" {
		return ""
	}
	return ": " + pgtext.Cut(line, 500)
}

// bounded keeps the beginning of the bytes written to it.
type bounded struct {
	text []byte
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	part := p[:min(len(p), b.most-len(b.text))]
	b.text = append(b.text, part...)
	b.over = b.over || len(part) < len(p)
	return len(p), nil
}
