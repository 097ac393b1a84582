package vault

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/problem"
)

func TestAKeyFileIsMadeOnceAndForItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "secret.key")
	if _, err := LoadKeys(path, false); err == nil {
		t.Error("a file that is not there was read")
	}
	ids := make([]string, 8)
	var all sync.WaitGroup
	for i := range ids { // servers that start at once
		all.Go(func() {
			keys, err := LoadKeys(path, true)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = strings.Join(keys.IDs(), " ")
		})
	}
	all.Wait()
	if slices.Sort(ids); ids[0] == "" || ids[0] != ids[len(ids)-1] {
		t.Errorf("they have different keys: %v", ids)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	if err := AddKey(path); err != nil {
		t.Fatal(err)
	}
	keys, err := LoadKeys(path, true)
	if err != nil || len(keys.IDs()) != 2 || keys.IDs()[1] != ids[0] {
		t.Errorf("%v after %s: %v", keys, ids[0], err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for _, printed := range []string{fmt.Sprint(keys), fmt.Sprintf("%v %+v %#v %s", keys, keys, keys, keys), fmt.Sprintf("%x", keys)} {
		if strings.Contains(printed, line) || len(printed) > 200 {
			t.Errorf("keys print as %s", printed)
		}
	}
}

func TestABadKeyFileIsRefusedWithoutItsText(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": "", "comment": "# nothing\n", "short": "c2hvcnQ=\n", "words": "correct horse battery staple\n"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadKeys(path, true)
		var p *problem.Problem
		if !errors.As(err, &p) || p.Field != "secret_key_file" {
			t.Errorf("%s: %v", name, err)
		} else if text = strings.TrimSpace(text); text != "" && text[0] != '#' && strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error tells the key: %v", name, err)
		}
	}
	open := filepath.Join(dir, "open")
	if _, err := LoadKeys(open, true); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKeys(open, true); err == nil || !strings.Contains(err.Error(), "others may read") {
		t.Errorf("a file for everybody: %v", err)
	}
}
