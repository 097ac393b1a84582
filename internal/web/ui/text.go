package ui

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/locale"
)

// Short is the end of an id: its beginning is the time, which many share.
func Short(id string) string {
	if len(id) <= 12 {
		return id
	}
	return id[len(id)-12:]
}

// Cut bounds a text to n characters.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// Sentence is a text of a problem as it stands on a page: it begins with a
// capital. The command line shows the same text without.
func Sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || strings.HasPrefix(s, "weir ") {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// Number is a number with thin groups of three digits: 12 345.
func Number(n int) string { return locale.Number(n) }

// Bytes is a size: 1.2 MB.
func Bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	if i == 0 || f >= 100 {
		return fmt.Sprintf("%.0f %s", f, units[i])
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

// Plural is "1 task", "2 tasks".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Path joins the parts of an address and escapes each of them.
func Path(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + url.PathEscape(p))
	}
	return b.String()
}

// With is an address with some parameters of the query changed; an empty value
// removes its parameter. Pairs are name, value, name, value.
func With(u *url.URL, pairs ...string) string {
	q := u.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		} else {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return u.Path
	}
	return u.Path + "?" + q.Encode()
}

func pairs(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k, v := range m {
		out = append(out, Line(k)+"="+Line(v))
	}
	slices.Sort(out)
	return out
}
