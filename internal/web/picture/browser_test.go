package picture

import (
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// faults is what the browser finds wrong: text outside its picture, text that
// leaves its box, two texts on one another.
const faults = `<script>
const out = [];
const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
for (const section of document.querySelectorAll('section')) for (const svg of section.querySelectorAll('svg')) {
  const frame = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')];
  const at = texts.map(t => t.getBoundingClientRect());
  texts.forEach((t, i) => {
    const say = what => out.push(section.dataset.name + ': "' + t.textContent + '" ' + what);
    const r = at[i];
    if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.top < frame.top - 2 || r.bottom > frame.bottom + 2) say('leaves the picture');
    const box = t.parentNode.querySelector(':scope > .pic-box:not(.pic-box-sheet)') || t.closest('.pic-stretch')?.querySelector('rect');
    if (box) { const b = box.getBoundingClientRect(); if (r.left < b.left || r.right > b.right) say('leaves its box'); }
    for (let k = 0; k < i; k++) if (meet(r, at[k])) say('lies on "' + texts[k].textContent + '"');
  });
}
const pre = document.createElement('pre'); pre.id = 'faults'; pre.textContent = JSON.stringify(out); document.body.append(pre);
</script>`

// TestNoTextOverlapsInABrowser measures real letters: our estimate of widths
// is only as good as the face a browser takes.
func TestNoTextOverlapsInABrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no chromium")
		}
		t.Skip("NOT TESTED: there is no chromium to measure text with")
	}
	var b strings.Builder
	b.WriteString("<!doctype html><meta charset=utf-8><style>:root{--font:system-ui,sans-serif}" + string(CSS) + "</style>")
	for _, s := range samples() {
		b.WriteString("<section data-name=" + s.name + ">" + string(s.svg) + "</section>")
	}
	b.WriteString(faults)
	folder := t.TempDir()
	page := filepath.Join(folder, "page.html")
	if err := os.WriteFile(page, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--user-data-dir="+filepath.Join(folder, "profile"), "--window-size=1200,900", "--dump-dom", "file://"+page)
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v", err)
	}
	found := regexp.MustCompile(`(?s)<pre id="faults">(.*?)</pre>`).FindSubmatch(dom)
	if found == nil {
		t.Fatal("the page did not run")
	}
	var list []string
	if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &list); err != nil {
		t.Fatal(err)
	}
	for _, fault := range list {
		t.Error(fault)
	}
}
