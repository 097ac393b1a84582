//go:build unix

package pg

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// account is the unprivileged user that the server runs as. It is nil if Weir itself is
// unprivileged: then the server runs as the same user. PostgreSQL refuses to run as root,
// and initdb refuses a uid that has no name.
type account struct {
	name     string
	uid, gid uint32
}

// serverAccount chooses the account. The owner of existing data decides, so that a folder
// made by one user and served by root stays that user's.
func serverAccount(data string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	if info, err := os.Stat(data); err == nil {
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 0 {
			return &account{name: fmt.Sprintf("uid %d", owner.Uid), uid: owner.Uid, gid: owner.Gid}, nil
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil && uid > 0 {
			return &account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("PostgreSQL does not run as root and this machine has neither a user postgres nor nobody: start Weir as another user")
}

// own gives a file or folder to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// attributes are those of every server process: its own session, so that a Ctrl-C in the
// terminal reaches Weir alone and Weir can stop the server last.
func (a *account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if a != nil {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attr
}

// reach makes sure that the account can enter every folder above path. Folders below the
// system's temporary folder get the right to pass through, because their creators make
// them private; for any other a person has to decide, so it is an error that tells how.
func (a *account) reach(path string) error {
	if a == nil {
		return nil
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return err
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		switch {
		case a.enters(info):
		case strings.HasPrefix(dir, temp+string(filepath.Separator)):
			if err := os.Chmod(dir, info.Mode().Perm()|0o001); err != nil {
				return err
			}
		default:
			return fmt.Errorf("started by root, the server runs as %s, who cannot enter %s: "+
				"choose a data folder such as /var/lib/weir, or allow it with: chmod o+x %s", a.name, dir, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func (a *account) enters(info os.FileInfo) bool {
	owner := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode().Perm(); {
	case owner.Uid == a.uid:
		return mode&0o100 != 0
	case owner.Gid == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
