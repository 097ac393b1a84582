// Wordcount counts words: as a step in a container, or as a service that steps
// call. It uses nothing of Weir: a file, a folder, lines and an exit code are all
// there is to know.
//
//	wordcount                       # a step: see docker.yaml
//	wordcount serve 127.0.0.1:8093  # a service: see compose.yaml and http.yaml
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// params are what a step is given.
type params struct {
	Text string `json:"text"`
}

// count is what it gives back.
type count struct {
	Words int `json:"words"`
}

func main() {
	log.SetFlags(0)
	var err error
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		err = serve(os.Args[2])
	} else {
		err = step()
	}
	if err != nil {
		log.Fatal(err) // any exit code but 0 is a failed attempt
	}
}

// step reads its params, leaves a file, and says its result on standard output.
func step() error {
	text, err := os.ReadFile(os.Getenv("WEIR_PARAMS")) // #nosec G703 -- the agent says where
	if err != nil {
		return err
	}
	var p params
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	words := strings.Fields(p.Text)
	fmt.Printf("attempt %s counts %q\n", os.Getenv("WEIR_ATTEMPT"), p.Text)
	fmt.Println("::progress 50")
	file := filepath.Join(os.Getenv("WEIR_OUT"), "words.txt")
	if err := os.WriteFile(file, []byte(strings.Join(words, "\n")+"\n"), 0o600); err != nil { // #nosec G703 -- the agent says where
		return err
	}
	result, err := json.Marshal(count{len(words)})
	if err != nil {
		return err
	}
	fmt.Printf("::result %s\n", result)
	return nil
}

// serve takes calls of agents until it is stopped.
func serve(address string) error {
	routes := http.NewServeMux()
	routes.HandleFunc("POST /count", func(w http.ResponseWriter, r *http.Request) {
		var work struct {
			Key     string `json:"key"`
			Attempt int    `json:"attempt"`
			Params  params `json:"params"`
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&work); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Printf("%s, attempt %d\n", work.Key, work.Attempt)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(count{len(strings.Fields(work.Params.Text))}) // whoever asked is gone if it fails
	})
	fmt.Println("serving", address)
	server := http.Server{Addr: address, Handler: routes, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}
