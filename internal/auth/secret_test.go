package auth

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/problem"
)

func TestSecret(t *testing.T) {
	seen := map[string]bool{}
	for kind := range secretKinds {
		secret := newSecret(kind)
		if got, ok := parseSecret(secret); !ok || got != kind || seen[secret] {
			t.Fatalf("%s is read as %q, %v", kind, got, ok)
		}
		seen[secret] = true
		// Every typo of one character is found without the database.
		for i := range secret {
			c := byte('x')
			if secret[i] == c {
				c = 'y'
			}
			if _, ok := parseSecret(secret[:i] + string(c) + secret[i+1:]); ok {
				t.Errorf("a typo at %d of a %s passed", i, kind)
			}
		}
		for _, bad := range []string{secret + "0", secret[1:], secret[:len(secret)-1], " " + secret, strings.ToUpper(secret), ""} {
			if _, ok := parseSecret(bad); ok {
				t.Errorf("%q passed", bad)
			}
		}
		if _, err := hashOf(kind, secret); err != nil {
			t.Error(err)
		}
		for not := range secretKinds {
			if not != kind {
				_, err := hashOf(not, secret)
				wants(t, err, problem.Unauthenticated)
			}
		}
	}
	if !IsToken(newSecret(tokenSecret)) || IsToken(newSecret(nodeSecret)) || !IsNode(newSecret(nodeSecret)) {
		t.Error("a bearer is taken for another kind")
	}
}

// FuzzSecret: every accepted input has exactly the form of a generated secret.
func FuzzSecret(f *testing.F) {
	for kind := range secretKinds {
		f.Add(newSecret(kind))
	}
	for _, s := range []string{"", "weir_", "weir_pat_", "weir__", "weir_pat_\x00", "ghp_" + strings.Repeat("a", 36), "weir_pat_" + strings.Repeat("0", 49)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		kind, ok := parseSecret(s)
		if !ok {
			if _, err := hashOf(tokenSecret, s); err == nil {
				t.Fatalf("%q is no secret and was hashed", s)
			}
			return
		}
		want := len("weir_") + len(kind) + 1 + randomDigits + checksumDigits
		if len(s) != want || !strings.HasPrefix(s, "weir_"+string(kind)+"_") || checksum(s[:len(s)-checksumDigits]) != s[len(s)-checksumDigits:] {
			t.Fatalf("%q passed", s)
		}
	})
}
