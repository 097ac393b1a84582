// The probe is the whole content of the image that tests run: it does what its
// first argument says, so that a test sees from outside what a container may.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	commands := map[string]func(args []string) error{
		"result": result, "work": work, "exit": exit, "hog": hog, "fork": fork, "sleep": sleep, "stubborn": stubborn,
		"net": networks, "stat": stat, "write": write, "env": env, "status": status, "flood": flood, "serve": serve,
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "probe: what?")
		os.Exit(64)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(65)
	}
}

// result does what a good step does: it reads its params, speaks the line
// protocol, leaves a file, and writes to both streams.
func result([]string) error {
	params, err := os.ReadFile(os.Getenv("WEIR_PARAMS")) // #nosec G703 -- a path that the test names
	if err != nil {
		return err
	}
	fmt.Println("hello from the container")
	fmt.Fprintln(os.Stderr, "a word of warning")
	fmt.Println("::progress 40")
	if err := os.WriteFile(filepath.Join(os.Getenv("WEIR_OUT"), "out.txt"), params, 0o600); err != nil { // #nosec G703 -- a path that the test names
		return err
	}
	fmt.Printf("::result {\"params\":%s}\n", params)
	return nil
}

// work takes as long as it is told and says who it was.
func work(args []string) error {
	long, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	time.Sleep(long)
	fmt.Printf("::result {\"attempt\": %s, \"token\": %q}\n", os.Getenv("WEIR_ATTEMPT"), os.Getenv("WEIR_FENCE"))
	return nil
}

func exit(args []string) error {
	code, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	os.Exit(code)
	return nil
}

// hog takes memory until it is stopped.
func hog([]string) error {
	var all [][]byte
	for {
		block := make([]byte, 1<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		all = append(all, block)
		if len(all) > 4096 {
			return fmt.Errorf("took %d MiB and nobody minded", len(all))
		}
	}
}

// fork starts children until it may not, and says how many it got.
func fork(args []string) error {
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for n := range want {
		if err := exec.Command("/probe", "sleep").Start(); err != nil {
			fmt.Printf("refused after %d: %v\n", n, err)
			os.Exit(11)
		}
	}
	fmt.Printf("started %d\n", want)
	return nil
}

// sleep waits for a polite request to end.
func sleep([]string) error {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	fmt.Println("ready")
	<-asked
	fmt.Println("asked to stop")
	os.Exit(143)
	return nil
}

// stubborn does not listen to requests.
func stubborn([]string) error {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("ready")
	for range asked {
		fmt.Println("asked to stop, and going on")
	}
	return nil
}

func networks([]string) error {
	all, err := net.Interfaces()
	if err != nil {
		return err
	}
	for _, i := range all {
		fmt.Println("interface", i.Name)
	}
	return nil
}

func stat(args []string) error {
	for _, path := range args {
		info, err := os.Stat(path) // #nosec G703 -- a path that the test names
		if err != nil {
			return err
		}
		fmt.Printf("%s %04o\n", path, info.Mode().Perm())
	}
	return nil
}

// write tries to write a file in each of the folders.
func write(args []string) error {
	for _, dir := range args {
		err := os.WriteFile(filepath.Join(dir, "written"), []byte("x"), 0o600) // #nosec G703 -- a path that the test names
		fmt.Printf("%s %v\n", dir, err == nil)
	}
	return nil
}

func env([]string) error {
	for _, line := range os.Environ() {
		fmt.Println(line)
	}
	return nil
}

// status prints what the kernel says of this process.
func status([]string) error {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(data)
	return err
}

func flood(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for i := range n {
		fmt.Printf("line %d %s\n", i, strings.Repeat("x", 80))
	}
	return nil
}

// serve answers posts with what it was sent, on the address it is given. A post
// to /slow is answered when somebody asks for /go.
func serve(args []string) error {
	goOn := make(chan struct{}, 16)
	routes := http.NewServeMux()
	routes.HandleFunc("GET /go", func(http.ResponseWriter, *http.Request) { goOn <- struct{}{} })
	routes.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if r.URL.Path == "/slow" {
			<-goOn
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"sent": json.RawMessage(body)})
	})
	fmt.Println("serving", args[0])
	server := http.Server{Addr: args[0], Handler: routes, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}
