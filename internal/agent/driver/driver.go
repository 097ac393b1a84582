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
	// Name is what a definition calls it: exec, docker, compose, http.
	Name() string
	// Check says why it cannot work on this machine, or nil.
	Check(ctx context.Context) error
	// Start begins the work and returns when it runs. Starting the same task and
	// attempt again while it runs returns what runs. The end of ctx gives up the
	// beginning; it does not end work that has begun.
	Start(ctx context.Context, work Work, out Output) (Running, error)
	// Adopt finds what an earlier life of this agent left running. It is called
	// once, before the first Start. The agent attaches to each or kills it.
	Adopt(ctx context.Context) ([]Found, error)
}

// Running is work that has begun.
type Running interface {
	// Wait returns when the work has ended and all its output is written. The
	// end of ctx ends the wait alone. It can be called once.
	Wait(ctx context.Context) (Exit, error)
	// Stop asks the work to end, waits for the grace, then kills all of it: the
	// whole process group or container. Grace zero: kill at once. It returns
	// when nothing is left, or says why it cannot. It can be called again, with
	// less grace, when ctx has ended an earlier call.
	Stop(ctx context.Context, grace time.Duration) error
}

// Leashed is work that dies by itself at a given time, even when the agent is
// stopped or dead. The agent sets that time before the lease can pass to
// somebody else, and again after each renewal.
type Leashed interface {
	Leash(until time.Time) error
}

// ErrLate is what Start answers when the leash ends before the work begins: an
// agent that was stopped in between must not begin what is somebody else's.
var ErrLate = errors.New("its lease ran out before it began")

// Late says that it is too late to begin.
func (w Work) Late() bool { return !w.Leash.IsZero() && !time.Now().Before(w.Leash) }

// Found is work that an earlier life of the agent began. It may have ended in
// the meantime: then Wait of what Attach returns says how.
type Found interface {
	Fence() string
	Task() string
	Attempt() int
	// Attach goes on where the earlier life stopped.
	Attach(ctx context.Context, work Work, out Output) (Running, error)
	// Kill ends it and clears away what is left of it.
	Kill(ctx context.Context) error
}

// Idler is a driver that keeps services between tasks. Since is when the last
// task of the service ended; the driver decides whether that is long enough.
// Nothing of the service runs or starts until Idle returns.
type Idler interface {
	Idle(ctx context.Context, service string, since time.Time) error
}

// Output takes what the work prints. Writers take any bytes in any pieces and
// never fail: what is too much is dropped with a marker.
type Output interface {
	Stdout() io.Writer
	Stderr() io.Writer
	// Taken is how many bytes of each an earlier life has dealt with: the driver
	// leaves them out when it attaches. Zero for new work.
	Taken() (stdout, stderr int64)
	// Alive says that the work lives although it prints nothing, if the driver
	// can know.
	Alive()
}

// LeashReason is why work was killed that nobody let live on.
const LeashReason = "its lease was not renewed in time"

// Exit is how work ended.
type Exit struct {
	// Code is 0 for success. A process that a signal killed has 128 + signal.
	Code int
	// Signal names what killed it, such as "killed"; empty: none did.
	Signal string
	// Reason says in a few words what is behind it, if the driver knows: "out of
	// memory".
	Reason string
	// Leashed: its leash killed it, and nothing that it did.
	Leashed bool
	// Infra: what it ran on failed, and not the work itself.
	Infra bool
	// Result is what the work returned besides its output, as the http driver
	// gets it. A ::result line wins over it.
	Result json.RawMessage
}

// Work is one attempt.
type Work struct {
	Task, Job, Key, Service string
	// Fence is the token of the lease. Tasks of one claim share it, so work is
	// found again by task, attempt and fence together: see [Work.Mark].
	Fence   string
	Node    string
	Attempt int
	Params  json.RawMessage
	Run     node.Run
	// Device is what it works on, if it is work of a fleet.
	Device *node.Device
	// Env is what the definition says and the secrets, without WEIR_*: see
	// [Work.Environ].
	Env map[string]string
	// Dir is the private folder of this attempt: params.json, out, in, secrets.
	// The work may see and change it.
	Dir string
	// State is a folder for the driver's own notes, which the work never sees.
	State string
	// Leash is when it must be dead unless the lease is renewed. Zero: never.
	Leash time.Time
	// Deadline is when the attempt's time is over. Zero: never.
	Deadline time.Time
}

// Mark names the attempt and its lease: what everything that belongs to it is
// found by.
func (w Work) Mark() string { return Mark(w.Task, w.Attempt, w.Fence) }

// Mark puts together what names a lease.
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

// Environ is the environment of the work as NAME=value, sorted. Root is where
// the work sees its folder: Dir, unless the driver mounts it elsewhere.
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

// labelsText is labels as JSON: an object, also where there is none.
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
