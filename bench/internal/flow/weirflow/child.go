package weirflow

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir/bench/internal/flow"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli"
)

// Variable turns a process into the program weir.
const Variable = "WEIR_BENCH_PROGRAM"

// Child turns this process into weir, if it was started for that. It is called first in
// main.
func Child() {
	app.Keeper() // an agent's keeper is the same program again
	if os.Getenv(Variable) == "" {
		return
	}
	os.Unsetenv(Variable)
	os.Exit(cli.Main("bench"))
}

// startServer runs weir server.
func startServer(ctx context.Context, databaseURL, folder string) (*flow.Process, error) {
	return start(ctx, databaseURL, folder, "Weir is up", "server", "--listen", "127.0.0.1:0", "--drain-delay", "none")
}

// startAgent runs weir agent for steps that are processes.
func startAgent(ctx context.Context, databaseURL, folder string) (*flow.Process, error) {
	return start(ctx, databaseURL, folder, "Agent of", "agent", "--node", "bench", "--service", fmt.Sprintf("exec=%d", flow.FanWorkers), "--dir", filepath.Join(folder, "agent"))
}

func start(ctx context.Context, databaseURL, folder, ready string, args ...string) (*flow.Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// Stop passes the signal of an interrupted benchmark to the child.
	cmd := exec.Command(program, append(args, "--bucket", "folder://"+filepath.Join(folder, "bucket"))...)
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "WEIR_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, Variable+"=1", "WEIR_DATABASE_URL="+databaseURL, "WEIR_LOG_LEVEL=error")
	return flow.StartProcess(ctx, "weir "+args[0], cmd, func(said string) bool { return strings.Contains(said, ready) })
}
