package streams

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/httpapi/stream"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/timeline"
)

// variable turns a process into the server of this database.
const variable = "WEIR_BENCH_STREAMS"

// Child reports whether this process was started to be the server.
func Child() bool { return os.Getenv(variable) != "" }

// Serve is the server process. It prints its address and ends with its input.
func Serve(in io.Reader, out io.Writer) (err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	url := os.Getenv(variable)
	pool, err := pg.Open(ctx, url, pg.Options{Name: "bench streams"})
	if err != nil {
		return err
	}
	defer pool.Close()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	hints := listen.New(config, nil)
	hub := timeline.NewHub(pool, hints.Listen(timeline.Channels...).C(), timeline.Options{})
	d, err := door.New(auth.New(pool, auth.Options{}), door.Config{})
	if err != nil {
		return err
	}
	streams := stream.New(stream.Config{Hub: hub, Subject: d.Subject, MaxPerSubject: 1 << 20, MaxStreams: 1 << 20})
	mux := http.NewServeMux()
	mux.Handle("GET /api/v1/events", d.Wrap(streams))
	mux.HandleFunc("GET /memory", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(readMemory()) // the client notices
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	// The limits are those of the product's server.
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelWarn),
	}
	server.RegisterOnShutdown(streams.Close)
	go func() { _ = hints.Run(ctx) }()
	go hub.Run(ctx)
	go func() { _ = server.Serve(listener) }()
	fmt.Fprintln(out, listener.Addr())
	_, _ = io.Copy(io.Discard, in) // until the benchmark is done or dead
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return server.Shutdown(wait)
}

// Memory is the memory use of the server process.
type Memory struct {
	// Heap and Stack are in use by the Go runtime after a collection, and Resident is the
	// system's figure, after freed pages were returned. All are in bytes.
	Heap, Stack, Resident int64
	// CPU is its CPU time so far.
	CPU time.Duration
	// Goroutines is how many there are.
	Goroutines int
}

func readMemory() (m Memory) {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		m.CPU = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.Heap, m.Stack, m.Goroutines = int64(stats.HeapInuse), int64(stats.StackInuse), runtime.NumGoroutine()
	text, _ := os.ReadFile("/proc/self/statm") // zero if there is none
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		m.Resident = pages * int64(os.Getpagesize())
	}
	return m
}
