package asset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed files
var files embed.FS

// Prefix is where assets are served.
const Prefix = "/assets/"

// Set is all assets under the names they are served by.
type Set struct {
	// names leads from the plain name to the one with the hash.
	names map[string]string
	items map[string]item
	build string
}

type item struct {
	kind          string
	plain, packed []byte
}

// Load reads the embedded files. More is appended to the stylesheet.
func Load(more ...[]byte) (*Set, error) {
	css, err := Stylesheet(more...)
	if err != nil {
		return nil, err
	}
	s := &Set{names: map[string]string{}, items: map[string]item{}}
	all := sha256.New()
	for _, name := range []string{"weir.css", "weir.js", "theme.js", "icon.svg"} {
		data := css
		if name != "weir.css" {
			if data, err = files.ReadFile("files/" + name); err != nil {
				return nil, fmt.Errorf("read the asset %s: %w", name, err)
			}
		}
		if err := s.add(name, data); err != nil {
			return nil, err
		}
		all.Write(data)
	}
	s.build = hex.EncodeToString(all.Sum(nil))[:12]
	return s, nil
}

// Stylesheet is the embedded stylesheets in the order of their names.
func Stylesheet(more ...[]byte) ([]byte, error) {
	names, err := fs.Glob(files, "files/*.css")
	if err != nil {
		return nil, fmt.Errorf("list the stylesheets: %w", err)
	}
	var css bytes.Buffer
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the stylesheet %s: %w", name, err)
		}
		css.Write(data)
		css.WriteByte('\n')
	}
	for _, data := range more {
		css.Write(data)
	}
	return css.Bytes(), nil
}

var kinds = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func (s *Set) add(name string, data []byte) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("pack the asset %s: %w", name, err)
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("pack the asset %s: %w", name, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("pack the asset %s: %w", name, err)
	}
	sum := sha256.Sum256(data)
	ext := path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:6]) + ext
	s.names[name] = Prefix + hashed
	s.items[Prefix+hashed] = item{kinds[ext], data, packed.Bytes()}
	return nil
}

// URL is the address of an asset. An unknown name is a fault of the program.
func (s *Set) URL(name string) string {
	url, ok := s.names[name]
	if !ok {
		panic("no asset is called " + name)
	}
	return url
}

// Build changes when any asset does.
func (s *Set) Build() string { return s.build }

// ServeHTTP answers with an asset, for ever.
func (s *Set) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, ok := s.items[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", found.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	data := found.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = found.packed
	}
	h.Set("Content-Length", fmt.Sprint(len(data)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(data) // the client is gone
}
