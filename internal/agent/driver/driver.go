package driver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/node"
)

// Driver runs work in one way.
type Driver interface {
	// Name returns the driver's name in definitions: exec, docker, compose, http.
	Name() string
	// Check returns why the driver cannot work on this machine, or nil.
	Check(ctx context.Context) error
	// Start starts the work and returns when it runs. Starting the same task and attempt
	// again while it runs returns the running work. The end of ctx aborts the start; it
	// does not end work that has started.
	Start(ctx context.Context, work Work, out Output) (Running, error)
	// Adopt finds the work that a previous process of this agent left running. It is
	// called once, before the first Start. The agent attaches to each one or kills it.
	Adopt(ctx context.Context) ([]Found, error)
}

// Running is work that has started.
type Running interface {
	// Wait returns when the work has ended and all its output is written. The end of ctx
	// ends only the wait. Wait can be called once.
	Wait(ctx context.Context) (Exit, error)
	// Stop asks the work to end, waits for the grace period, then kills all of it: the
	// whole process group or container. With a grace of zero it kills at once. It returns
	// when nothing is left, or an error that says why it cannot. It can be called again,
	// with less grace, after ctx has ended an earlier call.
	Stop(ctx context.Context, grace time.Duration) error
}

// Leashed is work that dies by itself at a given time, even if the agent is stopped or
// dead. The agent sets a time before the lease can pass to another worker, and sets it
// again after each renewal.
type Leashed interface {
	Leash(until time.Time) error
}

// Isolator is a driver that says how it holds the processes of an attempt together.
type Isolator interface {
	Isolation() string
}

// Clearer is a driver that can kill what a previous process of the agent started for a
// piece of work, and remove its state, so that the work can begin again.
type Clearer interface {
	Clear(ctx context.Context, work Work) error
}

// ErrLate is returned by Start if the leash ends before the work starts, because an agent
// that was suspended in between must not start a task that another worker may have.
var ErrLate = errors.New("its lease ran out before it began")

// ErrNoProgram is returned by Start if the program of the work is not on this machine.
var ErrNoProgram = errors.New("there is no such program on this machine")

// Late reports whether it is too late to start the work.
func (w Work) Late() bool { return !w.Leash.IsZero() && !time.Now().Before(w.Leash) }

// Found is work that a previous process of the agent started. It may have ended in the
// meantime: then Wait of the attached work returns its exit.
type Found interface {
	Fence() string
	Task() string
	Attempt() int
	// Attach continues where the previous process stopped.
	Attach(ctx context.Context, work Work, out Output) (Running, error)
	// Kill ends the work and removes what is left of it.
	Kill(ctx context.Context) error
}

// Idler is a driver that keeps services running between tasks. since is when the last
// task of the service ended; the driver decides whether that is long enough. No task of
// the service runs or starts until Idle returns.
type Idler interface {
	Idle(ctx context.Context, service string, since time.Time) error
}

// Output receives what the work prints. The writers accept any bytes in any pieces and
// never fail: output beyond the limit is dropped with a marker.
type Output interface {
	Stdout() io.Writer
	Stderr() io.Writer
	// Taken returns how many bytes of each stream a previous process has handled: the
	// driver leaves them out when it attaches. It is zero for new work.
	Taken() (stdout, stderr int64)
	// Alive records that the work lives although it prints nothing, if the driver can
	// know.
	Alive()
}

// LeashReason is why work was killed whose leash was not extended.
const LeashReason = "its lease was not renewed in time"

// Exit is how work ended.
type Exit struct {
	// Code is 0 for success. A process that a signal killed has 128 + signal.
	Code int
	// Signal names the signal that killed the work, such as "killed"; empty means none.
	Signal string
	// Reason says in a few words why the work ended so, if the driver knows: "out of
	// memory".
	Reason string
	// Leashed is set if the leash killed the work, and not anything that the work did.
	Leashed bool
	// Infra is set if the infrastructure failed, and not the work itself.
	Infra bool
	// Fault is what broke on the node while the work ran, if that is why it ended so:
	// [node.EngineAway] or another of those constants.
	Fault string
	// Result is what the work returned besides its output, as the http driver gets it. A
	// ::result line takes precedence.
	Result json.RawMessage
}

// Work is one attempt.
type Work struct {
	Task, Job, Key, Service string
	// Fence is the token of the lease. Tasks of one claim share it, so work is identified
	// by task, attempt and fence together: see [Work.Mark].
	Fence   string
	Node    string
	Attempt int
	Params  json.RawMessage
	Run     node.Run
	// Device is the device that the work runs on, if it is work of a fleet.
	Device *node.Device
	// Env contains the variables of the definition and the secrets, without WEIR_*: see
	// [Work.Environ].
	Env map[string]string
	// Dir is the private folder of this attempt: params.json, out, in, secrets.
	// The work may see and change it.
	Dir string
	// State is a folder for the driver's own notes, which the work never sees.
	State string
	// Leash is when the work must be dead unless the lease is renewed. Zero means never.
	Leash time.Time
	// Deadline is when the attempt's time is over. Zero means never.
	Deadline time.Time
}

// Mark returns the name of the attempt and its lease, by which everything that belongs to
// it is found.
func (w Work) Mark() string { return Mark(w.Task, w.Attempt, w.Fence) }

// Mark builds the name of a lease.
func Mark(task string, attempt int, fence string) string {
	return task + "." + strconv.Itoa(attempt) + "." + fence
}

// The parts of the private folder.
const (
	ParamsFile    = "params.json"
	OutFolder     = "out"
	InFolder      = "in"
	SecretsFolder = "secrets"
)

// Environ returns the environment of the work as NAME=value, sorted. root is where the
// work sees its folder: Dir, unless the driver mounts it elsewhere.
func (w Work) Environ(root string) []string {
	all := maps.Clone(w.Env)
	if all == nil {
		all = map[string]string{}
	}
	all["WEIR_TASK_ID"] = w.Task
	all["WEIR_JOB_ID"] = w.Job
	all["WEIR_TASK_KEY"] = w.Key
	all["WEIR_SERVICE"] = w.Service
	all["WEIR_NODE"] = w.Node
	all["WEIR_ATTEMPT"] = strconv.Itoa(w.Attempt)
	all["WEIR_FENCE"] = w.Fence
	all["WEIR_PARAMS"] = filepath.Join(root, ParamsFile)
	all["WEIR_OUT"] = filepath.Join(root, OutFolder)
	all["WEIR_IN"] = filepath.Join(root, InFolder)
	all["WEIR_SECRETS"] = filepath.Join(root, SecretsFolder)
	if w.Device != nil {
		all["WEIR_DEVICE_SERIAL"] = w.Device.Serial
		all["WEIR_DEVICE_TARGET"] = w.Device.Reach()
		all["WEIR_DEVICE_HUB"] = w.Device.Hub
		all["WEIR_DEVICE_LABELS"] = labelsText(w.Device.Labels)
	}
	env := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
}

// labelsText returns labels as a JSON object, which is empty without labels.
func labelsText(labels map[string]string) string {
	if len(labels) == 0 {
		return "{}"
	}
	text, err := json.Marshal(labels)
	if err != nil {
		return "{}" // text always becomes JSON
	}
	return string(text)
}
