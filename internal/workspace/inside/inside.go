package inside

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"os"
)

//go:embed page
var page embed.FS

// Config says what is served.
type Config struct {
	// Home is the folder.
	Home string
	// Shell is what the terminal runs. Empty: SHELL, or /bin/sh, as for a login.
	Shell []string
	// Name is shown on the page.
	Name string
}

// Handler serves a workspace. Close it when nobody is served any more.
type Handler struct {
	http.Handler
	root *os.Root
	ends *terminals
}

// New makes one.
func New(c Config) (*Handler, error) {
	root, err := os.OpenRoot(c.Home)
	if err != nil {
		return nil, fmt.Errorf("serve workspace: %w", err)
	}
	if len(c.Shell) == 0 {
		c.Shell = []string{firstThere(os.Getenv("SHELL"), "/bin/bash", "/bin/sh"), "-l"}
	}
	parts, err := fs.Sub(page, "page")
	if err != nil {
		return nil, fmt.Errorf("serve workspace: %w", err)
	}
	mux := http.NewServeMux()
	files := &files{root: root}
	ends := &terminals{config: c}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /name", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprintln(w, c.Name) // whoever has gone needs no answer
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /files/{path...}", files.get)
	mux.HandleFunc("PUT /files/{path...}", files.put)
	mux.HandleFunc("POST /files/{path...}", files.post)
	mux.HandleFunc("DELETE /files/{path...}", files.delete)
	mux.HandleFunc("GET /terminal", ends.serve)
	mux.Handle("GET /", http.FileServerFS(parts))
	return &Handler{Handler: guarded(mux), root: root, ends: ends}, nil
}

// Close ends the terminals.
func (h *Handler) Close() error {
	h.ends.close()
	return h.root.Close()
}

// guarded lets no other site use the page, nor the page use another site.
func guarded(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	return guard.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	}))
}

func firstThere(paths ...string) string {
	for _, path := range paths {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil { // #nosec G703 -- the shell of whoever started us
			return path
		}
	}
	return paths[len(paths)-1]
}
