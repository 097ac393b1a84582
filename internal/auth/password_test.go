package auth

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/argon2"
)

func TestPassword(t *testing.T) {
	ctx := t.Context()
	hash, err := hashPassword(ctx, good)
	must(t, err)
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("the hash costs something else: %s", hash)
	}
	again, err := hashPassword(ctx, good)
	must(t, err)
	if hash == again {
		t.Error("two hashes have one salt")
	}
	ok, stale, err := verifyPassword(ctx, hash, good)
	if !ok || stale || err != nil {
		t.Errorf("the right password: %v %v %v", ok, stale, err)
	}
	for _, wrong := range []string{"", good + " ", strings.ToUpper(good), strings.Repeat("a", mostPassword+1)} {
		if ok, _, err := verifyPassword(ctx, hash, wrong); ok || err != nil {
			t.Errorf("%.40q: %v %v", wrong, ok, err)
		}
	}
	// The hash for unknown users matches no password.
	for _, p := range []string{"", good} {
		if ok, _, err := verifyPassword(ctx, "", p); ok || err != nil {
			t.Errorf("nobody logged in: %v %v", ok, err)
		}
	}
	// The same letters, composed and decomposed.
	hash, err = hashPassword(ctx, "caf\u00e9 caf\u00e9 caf\u00e9")
	must(t, err)
	if ok, _, _ := verifyPassword(ctx, hash, "cafe\u0301 cafe\u0301 cafe\u0301"); !ok {
		t.Error("another keyboard's é is refused")
	}
	old := cost{memory: 8 * 1024, time: 1, threads: 1}
	salt := []byte("0123456789abcdef")
	ok, stale, err = verifyPassword(ctx, encode(old, salt, argon2.IDKey([]byte(good), salt, old.time, old.memory, old.threads, hashBytes)), good)
	if !ok || !stale || err != nil {
		t.Errorf("an old hash: %v %v %v", ok, stale, err)
	}
	for _, bad := range []string{"x", "$argon2i$v=19$m=1,t=1,p=1$AA$AA", "$argon2id$v=19$m=99999999,t=2,p=1$AA$AA", strings.Replace(hash, "v=19", "v=16", 1), hash[:len(hash)-4]} {
		if _, _, err := verifyPassword(ctx, bad, good); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestCheckPassword(t *testing.T) {
	for _, bad := range []string{"", "short", "aaaaaaaaaaaaaaaa", "abababababababab", strings.Repeat("long ", 300), "ada.lovelace1", "nul\x00 in the middle", "\xff\xfe not utf8 text"} {
		if CheckPassword("ada.lovelace", bad) == nil {
			t.Errorf("%.40q was taken", bad)
		}
	}
	for _, fine := range []string{good, other, "ada.lovelace sails at dawn"} {
		must(t, CheckPassword("ada.lovelace", fine))
	}
}

// At most four hashes are computed at once, however many people log in.
func TestHashesAtOnce(t *testing.T) {
	for range mostHashes {
		hashing <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	before := hashed.Load()
	var wait sync.WaitGroup
	errs := make(chan error, 8)
	for range 8 {
		wait.Go(func() {
			_, err := hashPassword(ctx, good)
			errs <- err
		})
	}
	cancel()
	wait.Wait()
	for range 8 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("a fifth hash was worked out: %v", err)
		}
	}
	if hashed.Load() != before {
		t.Error("something was hashed although all places were taken")
	}
	for range mostHashes {
		<-hashing
	}
	if _, err := hashPassword(t.Context(), good); err != nil {
		t.Error(err)
	}
}
