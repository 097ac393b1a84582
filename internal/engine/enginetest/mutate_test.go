package enginetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/mutate"
	"github.com/weirhq/weir/internal/testdb"
)

// TestMutationsAreSeen takes a few guards out of the schema and runs the test of
// each row, which must fail: so the mechanism of make mutate works. All rows run
// there.
func TestMutationsAreSeen(t *testing.T) {
	t.Parallel()
	if os.Getenv(testdb.SchemaVariable) != "" {
		t.Skip("this is a run of a mutation")
	}
	const root = "../../.."
	for _, name := range []string{"leased checks the node", "a repeated claim gets its own leases", "who resigns ends its own term"} {
		i := slices.IndexFunc(mutate.Rows(), func(r mutate.Row) bool { return r.Guard == name })
		if i < 0 {
			t.Errorf("there is no row %q", name)
			continue
		}
		row := mutate.Rows()[i]
		dir := t.TempDir()
		if err := row.Mutate(root, dir); err != nil {
			t.Fatal(err)
		}
		run := func(env ...string) string {
			cmd := exec.Command(os.Args[0], "-test.run", "^"+row.Test+"$", "-test.v") // #nosec G204 -- this very binary
			cmd.Env = append(os.Environ(), append(env, testdb.URLVariable+"="+testdb.URL(t))...)
			out, _ := cmd.CombinedOutput() // what it says is what counts
			return string(out)
		}
		if said := run(testdb.SchemaVariable + "=" + filepath.Clean(dir)); !strings.Contains(said, "--- FAIL: "+row.Test) {
			t.Errorf("%s: %s does not fail without the guard:\n%s", row.Guard, row.Test, said)
		}
		if err := testdb.DropTemplate(t.Context(), testdb.URL(t), os.DirFS(dir)); err != nil {
			t.Error(err)
		}
	}
}
