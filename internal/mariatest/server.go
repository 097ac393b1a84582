package mariatest

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/loop"
)

//go:embed guard.sh
var guardScript string

// patience is the timeout for the start of the server.
const patience = 2 * time.Minute

// server is the MariaDB of this process.
type server struct {
	dir      string
	address  string
	password string
	// pipe is the guard's input: the server runs while it is open.
	pipe io.Closer
}

// launch makes a data folder and starts a server on it. It retries because another
// process may take the port before the server has it.
func launch(ctx context.Context) (s *server, err error) {
	daemon, err := find("mariadbd", "mysqld")
	if err != nil {
		return nil, err
	}
	installer, err := find("mariadb-install-db", "mysql_install_db")
	if err != nil {
		return nil, err
	}
	for range 3 {
		s = &server{password: rand.Text()}
		if s.dir, err = os.MkdirTemp(scratch(), "weir-mariatest-"); err != nil {
			return nil, err
		}
		if err = s.start(ctx, daemon, installer); err == nil {
			return s, nil
		}
		if s.pipe != nil {
			_ = s.pipe.Close() // the guard removes the folder
		} else if gone := os.RemoveAll(s.dir); gone != nil {
			return nil, errors.Join(err, gone)
		}
	}
	return nil, err
}

func (s *server) start(ctx context.Context, daemon, installer string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	attr, err := s.account()
	if err != nil {
		return err
	}
	data := filepath.Join(s.dir, "data")
	// #nosec G204 -- the program of the machine, with a folder that we made
	install := exec.CommandContext(ctx, installer, "--no-defaults", "--datadir="+data, "--tmpdir="+s.dir,
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	install.SysProcAttr = attr
	install.Dir = s.dir
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("make a MariaDB data folder: %w: %s", err, tail(out))
	}
	return s.serve(ctx, daemon, data, attr)
}

// serve starts the guard, which starts the server, and waits for an answer.
func (s *server) serve(ctx context.Context, daemon, data string, attr *syscall.SysProcAttr) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	s.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	first := filepath.Join(s.dir, "first.sql")
	account := "create or replace user 'weir'@'%' identified by '" + s.password + "';\ngrant all on *.* to 'weir'@'%' with grant option;\n"
	if err := os.WriteFile(first, []byte(account), 0o644); err != nil { // #nosec G306 -- the server is another user and must read it
		return err
	}
	// #nosec G204 -- our own script, with programs of the machine and a folder that we made
	guard := exec.Command("sh", "-c", guardScript, "guard", s.dir, daemon, "--no-defaults",
		"--datadir="+data, "--tmpdir="+s.dir, "--socket="+filepath.Join(s.dir, "sock"), "--pid-file="+filepath.Join(s.dir, "pid"),
		"--bind-address=127.0.0.1", "--port="+strconv.Itoa(port), "--init-file="+first, "--skip-name-resolve",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M",
		"--max-connections=500", "--performance-schema=OFF", "--character-set-server=utf8mb4")
	guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: attr.Credential}
	guard.Dir = s.dir
	pipe, err := guard.StdinPipe()
	if err != nil {
		return err
	}
	if err := guard.Start(); err != nil {
		return fmt.Errorf("start the guard of MariaDB: %w", err)
	}
	s.pipe = pipe
	for {
		err := s.answers(ctx)
		if err == nil {
			return nil
		}
		if log, _ := os.ReadFile(filepath.Join(s.dir, "server.log")); strings.Contains(string(log), "[ERROR] Aborting") {
			return fmt.Errorf("MariaDB ended at once: %s", tail(log))
		}
		if !loop.Wait(ctx, 50*time.Millisecond, nil) {
			return fmt.Errorf("MariaDB does not answer: %w", err)
		}
	}
}

// account gives the folder to the user that the server runs as, because MariaDB does not
// run as root.
func (s *server) account() (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	for _, name := range []string{"mysql", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr != nil || gidErr != nil || uid == 0 {
			continue
		}
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return attr, os.Chown(s.dir, int(uid), int(gid))
	}
	return nil, errors.New("MariaDB does not run as root and this machine has neither a user mysql nor nobody")
}

// scratch returns the folder for the data: memory, if the system has plenty.
func scratch() string {
	const shm, enough = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(shm, &fs) != nil {
		return os.TempDir()
	}
	if uint64(fs.Bavail)*uint64(fs.Bsize) < enough { // #nosec G115 -- a size of blocks is positive
		return os.TempDir()
	}
	return shm
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// find looks for a program under its names, also in the folders of servers.
func find(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
		for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/libexec"} {
			if path := filepath.Join(dir, name); executable(path) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s is not installed (Debian: apt-get install mariadb-server)", names[0])
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

// tail returns the end of a program's output.
func tail(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
