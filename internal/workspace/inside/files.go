package inside

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// fileMost is how long a file may be that the editor writes.
const fileMost = 64 << 20

type files struct{ root *os.Root }

// entry is a line of a folder.
type entry struct {
	Name    string    `json:"name"`
	Kind    string    `json:"kind"`
	Size    int64     `json:"size"`
	ModTime time.Time `json:"changed_at"`
}

// at is where a request points, from the folder.
func at(r *http.Request) string {
	return path.Clean("./" + strings.TrimPrefix(path.Clean("/"+r.PathValue("path")), "/"))
}

func (f *files) get(w http.ResponseWriter, r *http.Request) {
	name := at(r)
	info, err := f.root.Stat(name)
	if err != nil {
		fail(w, err)
		return
	}
	if info.IsDir() {
		f.list(w, name)
		return
	}
	if !info.Mode().IsRegular() {
		http.Error(w, "this is no file that can be read", http.StatusUnprocessableEntity)
		return
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		fail(w, err)
		return
	}
	defer file.Close()
	w.Header().Set("ETag", tag(info))
	// It is text of anybody: shown as text, or saved.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeContent(w, r, "", info.ModTime(), file)
}

func (f *files) list(w http.ResponseWriter, name string) {
	dir, err := f.root.Open(name)
	if err != nil {
		fail(w, err)
		return
	}
	defer dir.Close()
	infos, err := dir.Readdir(-1)
	if err != nil && len(infos) == 0 {
		fail(w, err)
		return
	}
	list := []entry{}
	for _, info := range infos {
		list = append(list, entry{info.Name(), kind(info.Mode()), info.Size(), info.ModTime().UTC()})
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(folderFirst(a, b), strings.Compare(a.Name, b.Name))
	})
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"path": name, "entries": list}) // who does not read it has gone
}

func folderFirst(a, b entry) int {
	switch {
	case a.Kind == b.Kind:
		return 0
	case a.Kind == "folder":
		return -1
	case b.Kind == "folder":
		return 1
	}
	return 0
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m.IsRegular():
		return "file"
	}
	return "other"
}

// tag changes whenever the file does.
func tag(info fs.FileInfo) string {
	return fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size())
}

// put writes a file whole: beside its place, then swapped in.
func (f *files) put(w http.ResponseWriter, r *http.Request) {
	name := at(r)
	mode := fs.FileMode(0o644)
	switch info, err := f.root.Stat(name); {
	case err == nil && info.IsDir():
		http.Error(w, "this is a folder", http.StatusConflict)
		return
	case err == nil:
		mode = info.Mode().Perm()
		if r.Header.Get("If-None-Match") == "*" {
			http.Error(w, "there is one of that name already: open it", http.StatusPreconditionFailed)
			return
		}
		if match := r.Header.Get("If-Match"); match != "" && match != tag(info) {
			http.Error(w, "somebody has changed it meanwhile: read it again", http.StatusPreconditionFailed)
			return
		}
	case !errors.Is(err, fs.ErrNotExist):
		fail(w, err)
		return
	case r.Header.Get("If-Match") != "":
		http.Error(w, "somebody has removed it meanwhile", http.StatusPreconditionFailed)
		return
	}
	if err := f.write(f.behind(name), mode, http.MaxBytesReader(w, r.Body, fileMost)); err != nil {
		fail(w, err)
		return
	}
	if info, err := f.root.Stat(name); err == nil {
		w.Header().Set("ETag", tag(info))
	}
	w.WriteHeader(http.StatusNoContent)
}

// linksMost is as many links as a system follows.
const linksMost = 40

// behind is what a link leads to, so that the link stays one. The path is not tidied up:
// what .. means after a link is for the folder to say.
func (f *files) behind(name string) string {
	at := name
	for range linksMost {
		target, err := f.root.Readlink(at)
		if err != nil {
			return at
		}
		at = folderOf(at) + "/" + target
	}
	return name
}

// folderOf is what a path is in, as it is written.
func folderOf(name string) string {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return "."
	}
	return name[:i]
}

func (f *files) write(name string, mode fs.FileMode, body io.Reader) error {
	folder := folderOf(name)
	if _, err := f.root.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		if err := f.root.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	beside := folder + "/." + rand.Text() + ".new"
	file, err := f.root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, body)
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.root.Rename(beside, name)
	}
	if err != nil {
		return errors.Join(err, f.root.Remove(beside))
	}
	return nil
}

func (f *files) post(w http.ResponseWriter, r *http.Request) {
	name, q := at(r), r.URL.Query()
	var err error
	switch {
	case q.Get("make") == "folder":
		err = f.root.MkdirAll(name, 0o755)
	case q.Get("move") != "":
		to := path.Clean("./" + strings.TrimPrefix(path.Clean("/"+q.Get("move")), "/"))
		if _, there := f.root.Lstat(to); there == nil {
			http.Error(w, to+" is there already", http.StatusConflict)
			return
		}
		if err = f.root.MkdirAll(path.Dir(to), 0o755); err == nil {
			err = f.root.Rename(name, to)
		}
	default:
		http.Error(w, "say what to do: ?make=folder or ?move=PATH", http.StatusUnprocessableEntity)
		return
	}
	if err != nil {
		fail(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (f *files) delete(w http.ResponseWriter, r *http.Request) {
	name := at(r)
	if name == "." {
		http.Error(w, "the home itself stays", http.StatusConflict)
		return
	}
	if _, err := f.root.Lstat(name); err != nil {
		fail(w, err)
		return
	}
	if err := f.root.RemoveAll(name); err != nil {
		fail(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func fail(w http.ResponseWriter, err error) {
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		http.Error(w, fmt.Sprintf("a file may have %d bytes here", long.Limit), http.StatusRequestEntityTooLarge)
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, "there is nothing of that name", http.StatusNotFound)
	case errors.Is(err, fs.ErrPermission):
		http.Error(w, "its rights do not allow that", http.StatusForbidden)
	default:
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	}
}
