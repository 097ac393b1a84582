package mutate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/testdb"
)

// Verdict is the result of a row.
type Verdict string

// The verdicts. Only Killed is good.
const (
	Killed   Verdict = "killed"
	Survived Verdict = "SURVIVED"
	Stale    Verdict = "STALE"
	Broken   Verdict = "BROKEN" // it does not build, or the test did not finish
)

// Result is a row with its verdict and, unless it was killed, the reason.
type Result struct {
	Row
	Verdict Verdict
	Detail  string
	Took    time.Duration
}

// timeLimit bounds one run of a test. A test that waits forever because its guard is gone
// has not noticed it.
const timeLimit = 5 * time.Minute

// senseless distinguishes a mutation that PostgreSQL refuses from one that a test has
// noticed: the schema cannot be made, or one of its statements cannot be parsed.
var senseless = regexp.MustCompile(`make the template database|SQLSTATE 42(601|702|703|804|883|P01|P18)`)

// Runner runs rows. Make one with New, and Close it.
type Runner struct {
	root, work, clusterURL string
	binaries               map[string]*binary
}

// binary is the test binary of a package without any mutation.
type binary struct {
	path string
	// err says why there is no binary.
	err error
	// faults says for a test why it cannot judge a mutation.
	faults map[string]string
}

// New prepares a runner for the repository at root. clusterURL is the superuser URL of a
// cluster for tests.
func New(root, clusterURL string) (*Runner, error) {
	work, err := os.MkdirTemp("", "weir-mutate-")
	if err != nil {
		return nil, err
	}
	return &Runner{root: root, work: work, clusterURL: clusterURL, binaries: map[string]*binary{}}, nil
}

// Close removes what the runner built.
func (r *Runner) Close() error { return os.RemoveAll(r.work) }

// Prepare builds the tests of the rows' packages and runs each named test once without a
// mutation, because a test that fails anyway proves nothing.
func (r *Runner) Prepare(ctx context.Context, rows []Row) {
	tests := map[string][]string{}
	for _, row := range rows {
		if !slices.Contains(tests[row.Package], row.Test) {
			tests[row.Package] = append(tests[row.Package], row.Test)
		}
	}
	for pkg, names := range tests {
		b := &binary{path: r.file(pkg + ".test"), faults: map[string]string{}}
		r.binaries[pkg] = b
		if b.err = r.build(ctx, pkg, b.path, ""); b.err != nil {
			continue
		}
		// All of them together may take long.
		_, said := r.run(ctx, pkg, b.path, names, 4*timeLimit)
		for _, name := range names {
			if !strings.Contains(said, "--- PASS: "+name+" ") {
				b.faults[name] = "without the mutation the test fails, is skipped or does not run:\n" + said
			}
		}
	}
}

// Run runs one row, which must have been passed to Prepare.
func (r *Runner) Run(ctx context.Context, row Row) Result {
	began := time.Now()
	verdict, detail := r.judge(ctx, row)
	return Result{Row: row, Verdict: verdict, Detail: detail, Took: time.Since(began)}
}

func (r *Runner) judge(ctx context.Context, row Row) (Verdict, string) {
	if err := row.Stale(r.root); err != nil {
		return Stale, err.Error()
	}
	b := r.binaries[row.Package]
	if b.err != nil {
		return Broken, b.err.Error()
	}
	if fault := b.faults[row.Test]; fault != "" {
		return Stale, fault
	}
	var failed bool
	var said string
	err := r.mutated(ctx, row, b.path, func(path string, env ...string) {
		failed, said = r.run(ctx, row.Package, path, []string{row.Test}, timeLimit, env...)
	})
	switch {
	case err != nil:
		return Broken, err.Error()
	case senseless.MatchString(said):
		return Broken, "what is left makes no sense to PostgreSQL:\n" + said
	case failed && strings.Contains(said, "--- FAIL: "+row.Test+" "):
		return Killed, said
	case failed || !strings.Contains(said, "--- PASS: "+row.Test+" "):
		return Broken, "the test came to no verdict:\n" + said
	}
	return Survived, fmt.Sprintf("%s of %s passes without the guard", row.Test, row.Package)
}

// Find runs all tests of the row's package without the guard and returns those that fail,
// as candidates for the row.
func (r *Runner) Find(ctx context.Context, row Row) (failed []string, err error) {
	err = r.mutated(ctx, row, r.binaries[row.Package].path, func(path string, env ...string) {
		_, said := r.run(ctx, row.Package, path, nil, 4*timeLimit, env...)
		for line := range strings.Lines(said) {
			if f, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
				failed = append(failed, f)
			}
		}
	})
	return failed, err
}

// mutated makes the mutation and passes on the binary that has it, with the variables
// that it needs.
func (r *Runner) mutated(ctx context.Context, row Row, plain string, run func(path string, env ...string)) error {
	text, err := row.apply(r.root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(r.work, "row-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if row.inSchema() {
		if err := copySchema(filepath.Join(r.root, schemaFolder), dir, strings.TrimPrefix(row.File, schemaFolder+"/"), text); err != nil {
			return err
		}
		run(plain, testdb.SchemaVariable+"="+dir)
		return testdb.DropTemplate(ctx, r.clusterURL, os.DirFS(dir))
	}
	file, overlay, path := filepath.Join(dir, "file.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "test")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(r.root, row.File): file}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.WriteFile(overlay, list, 0o600)); err != nil {
		return err
	}
	if err := r.build(ctx, row.Package, path, overlay); err != nil {
		return fmt.Errorf("without the guard it does not build: %w", err)
	}
	run(path)
	return nil
}

// build makes the test binary of a package.
func (r *Runner) build(ctx context.Context, pkg, path, overlay string) error {
	args := []string{"test", "-c", "-vet=off", "-o", path}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...) // #nosec G204 -- packages of the table
	cmd.Dir = r.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// run runs tests of a binary in its package's folder, or all of them, and returns their
// output. A process that its time limit stopped has not failed: it has no verdict.
func (r *Runner) run(ctx context.Context, pkg, path string, tests []string, limit time.Duration, env ...string) (failed bool, said string) {
	args := []string{"-test.v", "-test.timeout", limit.String()}
	if len(tests) > 0 {
		args = append(args, "-test.run", "^("+strings.Join(tests, "|")+")$")
	}
	cmd := exec.CommandContext(ctx, path, args...) // #nosec G204 -- built above
	cmd.Dir = filepath.Join(r.root, pkg)
	cmd.Env = append(append(os.Environ(), testdb.URLVariable+"="+r.clusterURL), env...)
	out, err := cmd.CombinedOutput()
	return err != nil && !strings.Contains(string(out), "panic: test timed out"), string(out)
}

func (r *Runner) file(name string) string {
	return filepath.Join(r.work, strings.NewReplacer("/", "_", "..", "_").Replace(name))
}
