package vault

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
)

func TestAMaskHidesAValueInEveryForm(t *testing.T) {
	const value = `pa"ss<w>/ör d+42&%`
	const line = "-----the second line-----"
	m := NewMask(value, "first\n"+line+"\nthird-and-last")
	marshaled, _ := json.Marshal(value)
	var long bytes.Buffer
	for _, c := range []byte(base64.StdEncoding.EncodeToString([]byte("user:" + value + ":end"))) {
		long.WriteByte(c)
	}
	for name, text := range map[string]string{
		"itself":      "login with " + value + " now",
		"JSON":        string(marshaled),
		"ASCII JSON":  `{"p": "pa\"ss<w>/\u00f6r d+42&%"}`,
		"Go":          fmt.Sprintf("%q", value),
		"query":       "?p=" + url.QueryEscape(value),
		"path":        "/" + url.PathEscape(value) + "/",
		"lower case":  "?p=" + strings.ToLower(url.QueryEscape(value)),
		"user":        url.UserPassword("me", value).String(),
		"HTML":        "<b>" + html.EscapeString(value) + "</b>",
		"hex":         hex.EncodeToString([]byte(value)),
		"HEX":         strings.ToUpper(hex.EncodeToString([]byte(value))),
		"base64":      base64.StdEncoding.EncodeToString([]byte(value)),
		"URL base64":  base64.RawURLEncoding.EncodeToString([]byte(value)),
		"base64 + 1":  base64.StdEncoding.EncodeToString([]byte("u" + value)),
		"base64 + 2":  base64.StdEncoding.EncodeToString([]byte("me" + value + "!")),
		"basic":       long.String(),
		"a line":      "read " + line + " from the file",
		"JSON lines":  `first\n` + line + `\nthird-and-last`,
		"shell":       "'" + strings.ReplaceAll(value, "'", `'\''`) + "'",
		"twice":       value + value,
		"overlapping": value[:len(value)-1] + value,
	} {
		got := m.String(text)
		if !strings.Contains(got, stars) {
			t.Errorf("%s: %s is not masked", name, got)
		}
		for _, form := range append(forms(value), line) {
			if strings.Contains(got, form) {
				t.Errorf("%s: %s holds %s", name, got, form)
			}
		}
	}
	if got := m.String("login with " + value + " now, " + value + "."); got != "login with *** now, ***." {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{"", "nothing to see", "pa", "first", `pa"ss<w>/`} {
		if got := m.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestValuesThatOverlapAreMaskedAsOne(t *testing.T) {
	m := NewMask("abcdef", "defghi", "hi")
	for text, want := range map[string]string{
		"-abcdefghi-": "-***-", "-abcdefabcdef-": "-***-", "abcdeabcdef!": "abcde***!", "hihi hi": "*** ***", "defgh": "defgh", "": "",
	} {
		if got := m.String(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestAMaskOfNothingMasksNothing(t *testing.T) {
	var none *Mask
	for _, m := range []*Mask{none, NewMask(), NewMask("")} {
		if got := m.String("a ** b"); got != "a ** b" {
			t.Errorf("got %q", got)
		}
		var out strings.Builder
		w := m.Writer(&out)
		if _, err := w.Write([]byte("a")); err != nil || w.Flush() != nil || out.String() != "a" {
			t.Errorf("wrote %q, %v", out.String(), err)
		}
	}
}

// A program that prints the beginning of a secret repeatedly must not cost more than one
// that does not.
func TestAMaskIsFastOnBeginnings(t *testing.T) {
	m := NewMask(strings.Repeat("a", 60_000) + "b")
	s := stream{mask: m}
	out := s.end(s.feed(nil, bytes.Repeat([]byte("a"), 2<<20)))
	if len(out) != 2<<20 {
		t.Errorf("%d bytes came out", len(out))
	}
}

func TestWhatCannotBeASecretIsNotHeldBack(t *testing.T) {
	var out strings.Builder
	w := NewMask("secret-value").Writer(&out)
	for _, line := range []string{"one\n", "two\n", "ends in secret-"} {
		if _, err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "one\ntwo\nends in " {
		t.Errorf("got %q", out.String())
	}
	if _, err := w.Write([]byte("value, and secret-")); err != nil || out.String() != "one\ntwo\nends in ***, and " {
		t.Errorf("got %q, %v", out.String(), err)
	}
	if err := w.Flush(); err != nil || !strings.HasSuffix(out.String(), "***, and secret-") {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

// No value survives, wherever the stream is split, and all other text stays.
func FuzzMask(f *testing.F) {
	f.Add("s3cret", "other", []byte("a s3cret and another"), uint8(3))
	f.Add("aab", "aba", []byte("aaabababaab"), uint8(1))
	f.Add("line one long\nline two long", "\x00\xff", []byte("line one long\r\n\x00\xff"), uint8(7))
	f.Fuzz(func(t *testing.T, one, two string, text []byte, step uint8) {
		if strings.ContainsAny(one+two, "*") || len(one)+len(two) > 2000 {
			t.Skip()
		}
		m := NewMask(one, two)
		hidden := append(append([]byte{}, text...), base64.StdEncoding.EncodeToString([]byte(one))...)
		hidden = append(append(hidden, one...), two...)
		whole := m.Bytes(hidden)
		for _, form := range append(forms(one), forms(two)...) {
			// A form may hold stars of its own: those of a URL.
			if !strings.Contains(form, "*") && bytes.Contains(whole, []byte(form)) {
				t.Fatalf("%q holds %q", whole, form)
			}
		}
		var out bytes.Buffer
		w := m.Writer(&out)
		for rest := hidden; len(rest) > 0; {
			n := min(int(step)+1, len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Bytes(), whole) {
			t.Fatalf("in pieces %q, whole %q", out.Bytes(), whole)
		}
		if want := naive(hidden, append(forms(one), forms(two)...)); !bytes.Equal(whole, want) {
			t.Fatalf("masked %q, want %q", whole, want)
		}
	})
}

// naive masks in the obvious way: it marks every place of every form.
func naive(text []byte, forms []string) []byte {
	hide := make([]bool, len(text))
	for _, form := range forms {
		for i := 0; i+len(form) <= len(text); i++ {
			if string(text[i:i+len(form)]) == form {
				for j := range len(form) {
					hide[i+j] = true
				}
			}
		}
	}
	var out []byte
	for i, c := range text {
		switch {
		case !hide[i]:
			out = append(out, c)
		case i == 0 || !hide[i-1]:
			out = append(out, stars...)
		}
	}
	return out
}

// The rest of a secret at the end of truncated text is left out.
func TestTextThatWasCutOffEndsBeforeASecret(t *testing.T) {
	m := NewMask("canary-4711-in-a-mine")
	for text, want := range map[string]string{
		"all is well": "all is well",
		"say canary-4711-in-a-mine and canary-4711": "say *** and ",
		"canary-4711-in-a-minecanary-4711-in-a-min": "***",
		"cana": "",
	} {
		if got := string(m.Beginning([]byte(text))); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
	var none *Mask
	if got := string(none.Beginning([]byte("cana"))); got != "cana" {
		t.Errorf("no mask makes %q of it", got)
	}
}
