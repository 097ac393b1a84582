package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/problem"
)

// Kind is the kind of an object of a task, and the first part of its key.
type Kind string

// The kinds.
const (
	Input  Kind = "inputs"
	Output Kind = "outputs"
	Log    Kind = "logs"
)

// NoJob takes the place of the job in keys of a task without a job. The task's id then
// takes the place of its key.
const NoJob = "-"

const (
	keyMost  = 1024 // of S3
	partMost = 255  // of file systems
	// taskMost is the length beyond which a task's key is shortened.
	taskMost = 200
	// kept are the characters beside letters and digits that are not escaped.
	kept = "-_.!'()[]@=,"
)

// Key returns the key of an object of a task. Every job and task key has one: characters
// that a key cannot hold are escaped as in a URL, and a very long task key is shortened
// and made unique by its hash. The name is untrusted: a path below the task's folder,
// with slashes. It is refused if it leads out of there, is too long or holds control
// characters.
func Key(kind Kind, job, taskKey string, attempt int, name string) (string, error) {
	if kind != Input && kind != Output && kind != Log {
		return "", problem.Refuse("kind", "inputs, outputs or logs", "there is no kind %q", kind)
	}
	if job == "" || taskKey == "" || attempt < 0 {
		return "", problem.Refuse("key", "give a job, a task key and an attempt", "an object belongs to an attempt of a task")
	}
	var b strings.Builder
	b.WriteString(Prefix(kind, job, taskKey, attempt))
	for i, part := range strings.Split(name, "/") {
		if err := checkName(name, part); err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte('/')
		}
		escaped := escape(part)
		if len(escaped) > partMost {
			return "", problem.Refuse("name", "shorten it", "a part of %q is longer than %d bytes", clip(name), partMost)
		}
		b.WriteString(escaped)
	}
	if b.Len() > keyMost {
		return "", problem.Refuse("name", "shorten it", "%q makes a key of more than %d bytes", clip(name), keyMost)
	}
	return b.String(), nil
}

// LogKey returns the key of a chunk of the log of an attempt. Chunks are numbered from 0
// and sort by their number.
func LogKey(job, taskKey string, attempt, seq int) string {
	return Prefix(Log, job, taskKey, attempt) + fmt.Sprintf("%08d.jsonl", seq)
}

// IncomingPrefix begins the keys at which nodes put objects that have no final key yet.
const IncomingPrefix = "incoming/"

// Incoming returns the key for an upload of a node, before the object gets its final key.
func Incoming(key string) string {
	sum := sha256.Sum256([]byte(key))
	return IncomingPrefix + hex.EncodeToString(sum[:])
}

// Prefix returns the prefix of the keys of all objects of one kind and attempt.
func Prefix(kind Kind, job, taskKey string, attempt int) string {
	return TaskPrefix(kind, job, taskKey) + strconv.Itoa(attempt) + "/"
}

// TaskPrefix returns the prefix of the keys of all attempts of a task.
func TaskPrefix(kind Kind, job, taskKey string) string {
	return string(kind) + "/" + segment(job) + "/" + segment(taskKey) + "/"
}

// Parts are the parts of a key.
type Parts struct {
	Kind Kind
	Job  string
	// Task is the key of the task. If Short, it is only the shortened form of a key that
	// was too long.
	Task    string
	Short   bool
	Attempt int
	Name    string
}

// Parse splits a key that [Key] or [LogKey] has made.
func Parse(key string) (Parts, bool) {
	parts := strings.SplitN(key, "/", 5)
	if len(parts) != 5 {
		return Parts{}, false
	}
	p := Parts{Kind: Kind(parts[0]), Short: strings.Contains(parts[2], "~")}
	if p.Kind != Input && p.Kind != Output && p.Kind != Log {
		return Parts{}, false
	}
	attempt, err := strconv.Atoi(parts[3])
	if err != nil || attempt < 0 || strconv.Itoa(attempt) != parts[3] {
		return Parts{}, false
	}
	p.Attempt = attempt
	good := true
	for from, to := range map[*string]*string{&parts[1]: &p.Job, &parts[2]: &p.Task, &parts[4]: &p.Name} {
		text, ok := unescape(*from)
		*to, good = text, good && ok && text != ""
	}
	return p, good
}

// Owned reports whether a key is a place for objects of an attempt: of this kind, of the
// job, or of the task if it has no job. A worker reports where an artifact lies, and that
// must not lead to objects of others.
func Owned(key, kind, job, task string, attempt int) bool {
	p, ok := Parse(key)
	if !ok || string(p.Kind) != kind+"s" || p.Attempt != attempt {
		return false
	}
	if job == "" {
		return p.Job == NoJob && p.Task == task
	}
	return p.Job == job
}

// checkName refuses a part of a name that would not be a file of its folder.
func checkName(name, part string) error {
	switch {
	case part == "" || part == "." || part == "..":
		return problem.Refuse("name", "give a path below the task's folder, such as report/index.html", "%q leads out of its folder", clip(name))
	case !utf8.ValidString(part) || strings.ContainsFunc(part, misleads):
		return problem.Refuse("name", "rename the file", "%q has control characters, or is not UTF-8", clip(name))
	}
	return nil
}

// misleads reports whether a character is invisible, or reverses the characters after it:
// a name must be what people see.
func misleads(r rune) bool {
	return unicode.IsControl(r) || r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069'
}

// segment makes one part of a key from any text.
func segment(text string) string {
	s := escape(text)
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	if len(s) <= taskMost {
		return s
	}
	sum := sha256.Sum256([]byte(text))
	const digits = 32
	cut := taskMost - digits - 1
	for !utf8.RuneStart(s[cut]) || s[cut-1] == '%' || s[cut-2] == '%' {
		cut--
	}
	return s[:cut] + "~" + hex.EncodeToString(sum[:])[:digits] // escape leaves no ~
}

// escape keeps letters, digits and a few signs, and writes every other byte as %XX. Two
// texts never give the same result. Combining marks are escaped too, because some file
// systems treat a letter with a mark and the composed letter as equal.
func escape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(kept, r)) {
			b.WriteString(text[i : i+size])
		} else {
			for _, c := range []byte(text[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		i += size
	}
	return b.String()
}

// unescape undoes escape.
func unescape(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		c, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), true
}

// checkKey refuses a text that is not a valid key in every bucket.
func checkKey(key string) error {
	bad := key == "" || len(key) > keyMost || !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl)
	for part := range strings.SplitSeq(key, "/") {
		bad = bad || part == "" || part == "." || part == ".." || len(part) > partMost
	}
	if bad || within(key, drafts) {
		return problem.Refuse("key", "1 to 1024 bytes of text, in parts with a slash between", "%q is not a key", clip(key))
	}
	return nil
}

// within reports whether a key is a folder or lies below it.
func within(key, folder string) bool {
	rest, ok := strings.CutPrefix(key, folder)
	return ok && (rest == "" || rest[0] == '/')
}

// clip shortens untrusted text for an error.
func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
