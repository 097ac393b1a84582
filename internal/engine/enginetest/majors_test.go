package enginetest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testdb"
)

// majorsVariable is set in a run on another version: it does not begin a further one.
const majorsVariable = "WEIR_TEST_MAJOR"

// newest is the newest PostgreSQL whose SQL we know. The oldest is what tests run
// on where it is installed.
const newest = 18

// promised are the tests that hold guarantees, plans and what a version might do
// otherwise: partitions, roles, the catalog.
const promised = `^(TestR\d+\w*|TestPlans|TestFlowPlans|TestBuildPlan|TestNothingToDoWritesNothing|TestTransitionMatrix|TestPartitionsAreMade|TestRetention|TestRoles\w*|TestLocksAreHeld|TestBadInput|TestDoctorCanFail)$`

// onMajor runs tests of this binary on another PostgreSQL.
func onMajor(t *testing.T, major int, tests string) {
	t.Helper()
	if os.Getenv(majorsVariable) != "" {
		t.Skip("this is a run on another version")
	}
	cluster, stop, err := testdb.StartMajor(t.Context(), major)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED, NOT TESTED: ", err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	conn, err := pgx.Connect(t.Context(), cluster.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if got := conn.PgConn().ParameterStatus("server_version"); !strings.HasPrefix(got, fmt.Sprint(major)) {
		t.Fatalf("the server is PostgreSQL %s, want %d", got, major)
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run", tests) // #nosec G204 -- this very binary
	cmd.Env = append(os.Environ(), testdb.URLVariable+"="+cluster.URL("postgres"), majorsVariable+"="+fmt.Sprint(major))
	out, err := cmd.CombinedOutput()
	passed := bytes.Count(out, []byte("\n--- PASS: "))
	if err != nil || passed < 20 {
		t.Errorf("on PostgreSQL %d (%v, %d tests passed):\n%s", major, err, passed, out)
	}
	t.Logf("%d tests passed on PostgreSQL %d", passed, major)
}

// TestOnTheNewestPostgreSQL runs the tests of guarantees and plans once more.
func TestOnTheNewestPostgreSQL(t *testing.T) { onMajor(t, newest, promised) }
