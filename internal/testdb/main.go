package testdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/weirhq/weir/internal/testwait"
)

// shared is the cluster of this process: the first test that needs a database starts it,
// and Main stops it.
var shared struct {
	sync.Mutex
	inMain bool
	url    string
	stop   func() error
}

// Main runs the tests of a package, checks that they left no goroutine behind, and stops
// the cluster if this process started one. It does not return. Use it as the whole of
// TestMain with its *testing.M; options go to goleak.
func Main(m interface{ Run() int }, options ...goleak.Option) {
	shared.inMain = true
	code := m.Run()
	closeAdmins(context.Background())
	if shared.stop != nil {
		if err := shared.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "testdb:", err)
			code = max(code, 1)
		}
	}
	// The driver sends a cancel request when a connection is dropped in the middle of a
	// statement, and gives it up after some seconds.
	options = append(options, goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgconn.(*PgConn).asyncClose.func1"))
	os.Exit(testwait.Ended(code, options...))
}

// clusterURL returns the superuser URL of the cluster, and starts the cluster if
// necessary.
func clusterURL(ctx context.Context) (string, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.url != "" {
		return shared.url, nil
	}
	if shared.url = os.Getenv(URLVariable); shared.url != "" {
		return shared.url, nil
	}
	if !shared.inMain {
		return "", errors.New("testdb needs: func TestMain(m *testing.M) { testdb.Main(m) }")
	}
	cluster, stop, err := StartCluster(ctx)
	if err != nil {
		return "", err
	}
	shared.url, shared.stop = cluster.URL("postgres"), stop
	return shared.url, nil
}

// URL returns the superuser URL of the cluster that this process uses, for other
// processes that should use it too.
func URL(t testing.TB) string {
	t.Helper()
	address, err := clusterURL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}
