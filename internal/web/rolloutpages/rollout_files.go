package rolloutpages

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// filesMost is how many files a form carries. Each is two inputs, and a form has a
// thousand.
const filesMost = 200

// readFiles reads the files that the form carries, those that came with it, and what
// was pasted. They are one list: a file of the same name takes the place of the one
// before.
func (f *planForm) readFiles(r *site.Request) {
	for i := range filesMost {
		name := r.Field(fileField(i, "name"))
		if text := unixLines(r.PostFormValue(fileField(i, "text"))); name != "" || text != "" {
			f.files = append(f.files, rollout.File{Name: name, Text: text})
		}
	}
	if r.MultipartForm != nil {
		for _, header := range r.MultipartForm.File["upload"] {
			f.upload(r, header)
		}
	}
	f.paste = pasted{r.Field("paste.version"), r.Field("paste.name"), unixLines(r.PostFormValue("paste.text"))}
	f.takePaste(r)
}

func fileField(i int, what string) string { return "file." + strconv.Itoa(i) + "." + what }

// add puts a file into the list.
func (f *planForm) add(r *site.Request, file rollout.File) {
	if at := slices.IndexFunc(f.files, func(x rollout.File) bool { return x.Name == file.Name }); at >= 0 {
		f.files[at] = file
		return
	}
	if len(f.files) == filesMost {
		f.blame("files", ui.Say(r.Context(), "new.fault.many", filesMost))
		return
	}
	f.files = append(f.files, file)
}

// upload takes a file that came with the form. One that a folder would pass over is
// left out and named; one that is no text cannot come back in a form.
func (f *planForm) upload(r *site.Request, header *multipart.FileHeader) {
	name := path.Base(strings.ReplaceAll(header.Filename, `\`, "/"))
	if name == "." || header.Size == 0 && header.Filename == "" {
		return // a field without a file
	}
	if why := script.Passed(name); why != "" {
		f.passed = append(f.passed, fmt.Sprintf("%s %s", ui.Cut(ui.Line(name), 80), why))
		return
	}
	text, err := readUpload(header)
	if err != nil {
		f.blame("files", ui.Line(problem.Explain(err).What))
		return
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		_, err := script.Read(name, text)
		f.blame("files", ui.Line(fmt.Sprint(err)))
		return
	}
	f.add(r, rollout.File{Name: name, Text: unixLines(string(text))})
}

func readUpload(header *multipart.FileHeader) ([]byte, error) {
	file, err := header.Open()
	if err != nil {
		return nil, fmt.Errorf("open the file: %w", err)
	}
	defer file.Close()
	return io.ReadAll(file) // the guard has bounded it
}

// takePaste makes a file of a script that was pasted. Its name says its version.
func (f *planForm) takePaste(r *site.Request) {
	ctx, p := r.Context(), f.paste
	if strings.TrimSpace(p.text) == "" {
		if p.version != "" || p.name != "" {
			f.blame("paste.text", ui.Say(ctx, "new.fault.paste"))
		}
		return
	}
	name := strings.Join(strings.Fields(strings.TrimSuffix(p.name, ".sql")), "_")
	switch {
	case name == "":
		f.blame("paste.name", ui.Say(ctx, "new.fault.pastename"))
		return
	case strings.ContainsAny(name, `/\`):
		f.blame("paste.name", ui.Say(ctx, "new.fault.slash"))
		return
	case p.version != "":
		if _, err := script.Canonical(strings.TrimPrefix(strings.ToUpper(p.version), "V")); err != nil {
			f.blame("paste.version", ui.Line(err.Error()))
			return
		}
		name = "V" + strings.TrimPrefix(strings.ToUpper(p.version), "V") + "__" + name
	}
	f.add(r, rollout.File{Name: name + ".sql", Text: p.text})
	f.paste = pasted{}
}
