package archtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGuaranteesPage compares docs/guarantees.md with the tests: each test it names
// exists, and each number of the engine has one that carries it.
func TestGuaranteesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	exists := tests(t)
	for _, name := range regexp.MustCompile(`\bTest[A-Z]\w*`).FindAllString(string(page), -1) {
		if !slices.Contains(exists, name) {
			t.Errorf("the page names %s, which is no test", name)
		}
	}
	for n := 1; n <= 15; n++ {
		row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| R%d \|.*$`, n)).FindString(string(page))
		if !regexp.MustCompile(fmt.Sprintf(`TestR(\d+R)*%d(R\d+)*[A-Z_]`, n)).MatchString(row) {
			t.Errorf("R%d has no test on the page", n)
		}
	}
}

// tests are the tests of the repository.
func tests(t *testing.T) (names []string) {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test\w*)\(`)
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
