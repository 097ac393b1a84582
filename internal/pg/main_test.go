package pg_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
)

// helperVariable turns the test binary into a Weir that owns the folder it
// names, for tests that must kill one.
const helperVariable = "WEIR_TEST_OWN_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperVariable); dir != "" {
		ownFolder(dir)
	}
	testdb.Main(m)
}

// ownFolder starts the cluster, prints its address and stays until it is killed.
func ownFolder(dir string) {
	cluster, err := pg.Start(context.Background(), pg.Config{Dir: dir})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(cluster.Pid(), cluster.URL("postgres"))
	<-cluster.Done()
	os.Exit(0)
}
