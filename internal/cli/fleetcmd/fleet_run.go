package fleetcmd

import (
	"context"
	_ "embed"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/problem"
)

// fleetStarter is a fleet job that works and says in comments what else there is.
//
//go:embed fleet_starter.yaml
var fleetStarter string

// fleetFile is what a first fleet job is called.
const fleetFile = "fleet.yaml"

// fleetMost is more than any file of a fleet job has.
const fleetMost = 1 << 20

func fleetInit(e *command.Env) *cobra.Command {
	return &cobra.Command{
		Use: "init [FILE]", Short: "Write a fleet job to begin with", Args: e.AtMost("FILE"),
		Long:    "Write " + fleetFile + " or FILE, a fleet job with comments to begin with. A file that is there already stays as it is.",
		Example: "  weir fleet init\n  weir fleet init nightly.yaml",
		RunE: e.Run(func(_ *cobra.Command, args []string) error {
			path := fleetFile
			if len(args) > 0 {
				path = args[0]
			}
			text := strings.NewReplacer("{{FILE}}", path, "{{NAME}}", stemOf(path)).Replace(fleetStarter)
			if _, err := fleet.ParseSpec([]byte(text)); err != nil {
				return command.Invalid("use letters, digits, dots, dashes and underscores", "%q is not a name for a fleet job", path)
			}
			if err := command.WriteNew(path, text, "edit it, or name another file", "weir fleet init FILE"); err != nil {
				return err
			}
			return e.Output().Did(path, struct {
				File string `json:"file"`
			}{path}, "Wrote %s.\nRun it with: weir fleet run %s --watch", path, path)
		}),
	}
}

// stemOf is the name of a file without its folder and ending.
func stemOf(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }

// fleetFlags are what a command line says of a fleet job; they win over its file.
type fleetFlags struct {
	name, key   string
	target      []string
	env         map[string]string
	any, repeat int
	attempts    int
	timeout     time.Duration
	linger      time.Duration
	priority    int
	lane        string
	setup       string
	cleanup     string
	watch       bool
	// given says that a flag was.
	given func(flag string) bool
}

func fleetRun(e *command.Env) *cobra.Command {
	var f fleetFlags
	c := &cobra.Command{
		Use: "run FILE | -- COMMAND [ARGUMENT…]", Short: "Run a job on devices: a file, or a command on each",
		Long: `Run a job on devices: that of a file which weir fleet init wrote (- is standard input),
or a command. It runs on the PC of each device, in an empty folder of its own: give a
program of the PATH, an absolute path, or a script as text: sh -c '…'. It finds the
device in WEIR_DEVICE_SERIAL, WEIR_DEVICE_TARGET, WEIR_DEVICE_HUB and
WEIR_DEVICE_LABELS; {serial} and {target} in an argument stand for its own.

--target says on which devices; all that is named must hold:
  all             every device that is not retired
  tag=NAME        those with the label tag=NAME
  label=KEY=VALUE those with this label
  label=CONDITION those with such labels: 'label=android>=13', 'label=model in (a, b)',
                  'label=not tag=old'
  device=SERIAL   these

One fleet job is active at a time, the oldest; the others wait. With --watch the exit
code is how it ended: 0 done, 1 failed, 2 canceled.`,
		Example: "  weir fleet run fleet.yaml --watch\n  weir fleet run --target all -- adb -s '{target}' shell getprop ro.build.fingerprint\n  weir fleet run --target tag=kiosk --target label=model=alpha-5 --attempts 1 -- /opt/lab/smoke-test.sh --fast\n  weir fleet run nightly.yaml --target device=R58M123ABC --target device=R58M456DEF",
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		switch dash := cmd.ArgsLenAtDash(); {
		case dash > 0:
			e.HelpFor = cmd.CommandPath()
			return command.Invalid("give one of them", "a file and a command: it is not clear which is meant")
		case dash == 0 && len(args) > 0:
			return nil
		case len(args) == 0:
			e.HelpFor = cmd.CommandPath()
			return command.Invalid("give a file, such as weir fleet init writes, or a command: weir fleet run --target all -- COMMAND", "FILE or -- COMMAND is missing")
		}
		return e.Args("FILE")(cmd, args)
	}
	c.ValidArgsFunction = command.DefinitionFiles
	c.RunE = e.Session(func(ctx context.Context, s *app.Session, args []string) error {
		f.given = func(flag string) bool { return c.Flags().Changed(flag) }
		spec, err := f.spec(c.ArgsLenAtDash() == 0, args, c.InOrStdin())
		if err != nil {
			return err
		}
		return runFleet(ctx, e, s, spec, f.key, f.watch)
	})
	flags := c.Flags()
	flags.StringArrayVar(&f.target, "target", nil, "on which devices: `all`, tag=NAME, label=KEY=VALUE, label=CONDITION or device=SERIAL; may be repeated")
	flags.StringVar(&f.name, "name", "", "what the job is called; default: as its file or command")
	flags.StringToStringVar(&f.env, "env", nil, "variable of the command: `NAME=VALUE`; may be repeated")
	flags.IntVar(&f.any, "any", 0, "so many runs, which any device of the target may serve; default: one on each")
	flags.IntVar(&f.repeat, "repeat", 0, "how many rounds; default: 1")
	flags.IntVar(&f.attempts, "attempts", 0, "how often a run is tried; default: 3")
	flags.DurationVar(&f.timeout, "timeout", 0, "how long an attempt may take, such as 90s; default: 20m")
	flags.DurationVar(&f.linger, "linger", 0, "how long to wait for devices that cannot serve it once nothing else is left; default: 2m")
	flags.IntVar(&f.priority, "priority", 0, "a higher one goes before older jobs, -100 to 100")
	flags.StringVar(&f.lane, "lane", "", "jobs of one `lane` are active one after the other, those of different lanes side by side; default: default")
	flags.StringVar(&f.setup, "setup", "", "`command` that runs on the PC before each run, such as 'adb -s {target} root'; no shell")
	flags.StringVar(&f.cleanup, "cleanup", "", "`command` that runs on the PC after each run, however that ended; no shell")
	flags.StringVar(&f.key, "key", "", "the same `key` gives the same job, however often it is run")
	flags.BoolVarP(&f.watch, "watch", "w", false, "watch it until it has ended")
	_ = c.RegisterFlagCompletionFunc("target", cobra.FixedCompletions([]string{"all", "tag=", "label=", "device="}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	return c
}

// spec is the job of a file or of a command line.
func (f *fleetFlags) spec(typed bool, args []string, in io.Reader) (spec fleet.Spec, err error) {
	if typed {
		spec = fleet.Spec{Name: filepath.Base(args[0]), Run: node.Run{Argv: args}}
		if len(f.target) == 0 {
			return spec, command.Invalid("say on which devices: --target all, --target tag=NAME or --target device=SERIAL", "--target is missing")
		}
	} else if spec, err = ReadFleet(args[0], in); err != nil {
		return spec, err
	}
	if len(f.target) > 0 {
		if spec.Target, err = readTarget(f.target); err != nil {
			return spec, err
		}
	}
	if f.name != "" {
		spec.Name = f.name
	}
	for name, value := range f.env {
		if spec.Run.Env == nil {
			spec.Run.Env = map[string]string{}
		}
		spec.Run.Env[name] = value
	}
	for _, n := range []struct {
		flag     string
		is, into *int
	}{{"any", &f.any, &spec.Any}, {"repeat", &f.repeat, &spec.Repeat}, {"attempts", &f.attempts, &spec.Attempts}, {"priority", &f.priority, &spec.Priority}} {
		if f.given(n.flag) {
			*n.into = *n.is
		}
	}
	if f.given("timeout") {
		spec.Timeout = node.Span(f.timeout)
	}
	if f.given("linger") {
		spec.Linger = new(node.Span(f.linger))
	}
	if f.given("lane") {
		spec.Lane = f.lane
	}
	for _, c := range []struct {
		flag, line string
		into       **node.Command
	}{{"setup", f.setup, &spec.Setup}, {"cleanup", f.cleanup, &spec.Cleanup}} {
		if !f.given(c.flag) {
			continue
		}
		argv, err := node.SplitCommand(c.line)
		if err != nil {
			return spec, command.Invalid("close the quotes", "--%s: %v", c.flag, err)
		}
		if *c.into = nil; len(argv) > 0 {
			*c.into = &node.Command{Argv: argv}
		}
	}
	return spec, spec.Check()
}

// ReadFleet reads a fleet job from a file, or from standard input.
func ReadFleet(path string, in io.Reader) (spec fleet.Spec, err error) {
	text, err := command.ReadFile(path, in, fleetMost)
	if err != nil {
		return spec, command.Invalid("give a file that weir fleet init wrote, or a command: weir fleet run --target all -- COMMAND", "read the fleet job: %s", err)
	}
	if spec, err = fleet.ParseSpec(text); err != nil {
		p := *problem.Explain(err)
		p.What = path + ": " + p.What
		return spec, &p
	}
	if spec.Name == "" && path != "-" {
		spec.Name = stemOf(path)
	}
	return spec, nil
}

// readTarget reads on which devices.
func readTarget(words []string) (t fleet.Target, err error) {
	for _, word := range words {
		kind, value, _ := strings.Cut(word, "=")
		key, of, both := strings.Cut(value, "=")
		switch {
		case word == "all":
			t.All = true
		case kind == "tag" && value != "":
			t.Tag = value
		case kind == "device" && value != "":
			t.Devices = append(t.Devices, strings.Split(value, ",")...)
		case kind == "label" && value != "" && (!both || strings.ContainsAny(key, "<>! (")):
			t.Match = append(t.Match, value)
		case kind == "label" && both && key != "":
			if t.Labels == nil {
				t.Labels = map[string]string{}
			}
			t.Labels[key] = of
		default:
			return t, command.Invalid("write all, tag=NAME, label=KEY=VALUE or device=SERIAL", "--target: %q is not understood", word)
		}
	}
	return t, nil
}

// runFleet submits a job and says what became of it, or watches.
func runFleet(ctx context.Context, e *command.Env, s *app.Session, spec fleet.Spec, key string, watch bool) error {
	j, err := fleet.Create.Call(ctx, s.Operations, &fleet.Creating{Keyed: op.Keyed{IdempotencyKey: key}, Body: fleet.CreateBody{Spec: spec}})
	if err != nil {
		return err
	}
	if o := e.Output(); o.Table() && nowhere(spec.Run) {
		o.Say("%s is looked for in an empty folder on each PC. Give an absolute path, a program of the PATH, or run.dir.", command.Clean(spec.Run.Argv[0]))
	}
	return submittedFleet(ctx, e, s, j, watch)
}

// nowhere says that a program is named by a path from the folder of the attempt, which
// is empty.
func nowhere(run node.Run) bool {
	return len(run.Argv) > 0 && run.Dir == "" && run.Image == "" && strings.Contains(run.Argv[0], "/") && !filepath.IsAbs(run.Argv[0])
}

// submittedFleet says what became of a job that was submitted, or watches. One that
// failed at once is no success.
func submittedFleet(ctx context.Context, e *command.Env, s *app.Session, j fleet.Job, watch bool) error {
	o := e.Output()
	if watch && !o.Table() {
		return watchFleet(ctx, o, s, j.ID)
	}
	if err := o.Did(j.ID.String(), j, "Fleet job %s (%s) %s.", command.Short(j.ID), command.Clean(j.Name), submittedWords(j)); err != nil {
		return err
	}
	switch {
	case watch:
		return watchFleet(ctx, o, s, j.ID)
	case j.State == fleet.JobFailed:
		return command.Quiet(problem.Failed)
	case o.Table() && j.EndedAt == nil:
		o.Say("Watch it with: weir fleet watch %s", command.Short(j.ID))
	}
	return nil
}

// submittedWords is how a job stands that was submitted.
func submittedWords(j fleet.Job) string {
	switch {
	case j.Existed:
		return "is there already: it is " + j.State
	case j.State == fleet.JobWaiting:
		return "waits until those before it have ended"
	case j.State == fleet.JobFailed:
		return "failed at once: " + command.Clean(j.Cause)
	}
	return "is " + j.State + ": " + command.Plural(j.Counts.Total, "run", "runs")
}
