package coordinator

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/testdb"
)

// childVariable makes the test binary a coordinator of its own: database URL.
const childVariable = "WEIR_TEST_COORDINATOR"

func TestMain(m *testing.M) {
	if url := os.Getenv(childVariable); url != "" {
		if err := child(url); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testdb.Main(m)
}

// act is one write of a leader, with the epoch it believes in.
const act = `insert into acts (epoch) values ($1)`

const actsTable = `create table acts (n bigint generated always as identity, epoch bigint not null, at timestamptz not null default clock_timestamp())`

// child leads and writes as fast as it can, without listening to the end of its
// term: only the fence can stop it. It ends when its input does.
func child(url string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that counts
		stop()
	}()
	New(Config{Pool: pool, TTL: testTTL, Loops: func(t *Term) []loop.Loop {
		fmt.Println("leads", t.Epoch())
		go deaf(ctx, pool, t)
		return nil
	}}).Run(ctx)
	return nil
}

func deaf(ctx context.Context, pool *pgxpool.Pool, t *Term) {
	for loop.Wait(ctx, time.Millisecond, nil) {
		err := t.Tx(ctx, pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, act, t.Epoch())
			return err
		})
		if errors.Is(err, ErrTermOver) {
			fmt.Println("refused", t.Epoch())
			return
		}
	}
}

// process is a coordinator in a process of its own.
type process struct {
	*exec.Cmd
	lines chan string
}

func start(t *testing.T, url string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0]), lines: make(chan string, 100)}
	p.Env = append(os.Environ(), childVariable+"="+url)
	p.Stderr = os.Stderr
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = p.Process.Kill()
		for range p.lines {
			// Wait may close the pipe only when all is read.
		}
		_ = p.Wait()
	})
	return p
}

// says waits until the process prints the line.
func (p *process) says(t *testing.T, want string) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case line, ok := <-p.lines:
			if line == want {
				return
			}
			if !ok || strings.HasPrefix(line, "error") {
				t.Fatalf("the process said %q, want %q", line, want)
			}
		case <-timeout:
			t.Fatalf("the process never said %q", want)
		}
	}
}
