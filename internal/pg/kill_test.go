//go:build unix

package pg_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/pg"
)

// TestOwnerKilled kills a Weir with -9 while it owns a running cluster. Committed data is
// there for the next Weir, which adopts the server or restarts it.
func TestOwnerKilled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	dir := t.TempDir()
	for round := range 3 {
		owner := exec.Command(os.Args[0])
		owner.Env = append(os.Environ(), helperVariable+"="+dir)
		out, err := owner.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		var pid int
		var url string
		if _, err := fmt.Sscan(line, &pid, &url); err != nil {
			t.Fatalf("the owner said %q", line)
		}

		_, err = pg.Start(ctx, pg.Config{Dir: dir})
		if want := fmt.Sprintf("pid %d:", owner.Process.Pid); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a second Weir got %v, want an error with %q", err, want)
		}

		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, `create table if not exists kept (x int)`); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, `insert into kept values ($1)`, round); err != nil {
			t.Fatal(err)
		}
		if err := owner.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = owner.Wait()
		_ = conn.Close(ctx)

		began := time.Now()
		c, err := pg.Start(ctx, pg.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("round %d: back after %v, adopted = %v", round, time.Since(began).Round(time.Millisecond), c.Adopted())
		conn, err = pgx.Connect(ctx, c.URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := conn.QueryRow(ctx, `select count(*) from kept`).Scan(&n); err != nil || n != round+1 {
			t.Errorf("%d rows, %v; want %d", n, err, round+1)
		}
		_ = conn.Close(ctx)
		if err := c.Stop(ctx); err != nil {
			t.Fatal(err)
		}
	}
}
