package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestServe builds the command and runs another one under it.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "serve")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	seen := filepath.Join(dir, "url")
	cmd := exec.Command(program, "--", "sh", "-c", `printf %s "$WEIR_TEST_DATABASE_URL" > "$0"; exit 7`, seen)
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("ended with %v, want the command's exit code 7\n%s", err, out)
	}
	url, err := os.ReadFile(seen)
	if err != nil || !strings.HasPrefix(string(url), "postgres://") {
		t.Fatalf("the command saw the address %q, %v", url, err)
	}
	if _, err := pgx.Connect(t.Context(), string(url)); err == nil {
		t.Error("the cluster outlives the command")
	}
	if err := exec.Command(program).Run(); err == nil {
		t.Error("no command is no error")
	}
}
