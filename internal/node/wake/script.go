package wake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// grace is how long the output of an ended script is waited for, because a child that it
// left behind may hold the output open.
const grace = 2 * time.Second

// run runs a script of the operator's folder: that file, with the node's name and the
// row's words as arguments, and with no part of the server's environment except PATH. At
// the deadline the script is killed with every process that it started.
func (w *Waker) run(ctx context.Context, node string, try int, m Method) (said string, err error) {
	file, err := w.script(m)
	if err != nil {
		return "", err
	}
	if !nodeName.MatchString(node) {
		return "", problem.Refuse("node", "wake it by another method, or rename it", "the name %q is no plain word, so no script gets it", node)
	}
	cmd := exec.CommandContext(ctx, file, append([]string{node}, m.Args...)...) // #nosec G204 -- the file is checked by script, the words by checkScript, and no shell reads them
	cmd.Dir = w.config.Scripts
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "WEIR_NODE=" + node, "WEIR_TRY=" + strconv.Itoa(try)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = grace
	var output head
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Run()
	said = clean(output.text)
	switch {
	case ctx.Err() != nil:
		return said, fmt.Errorf("script %s did not end in time and was killed", m.Script)
	case errors.Is(err, exec.ErrWaitDelay):
		return said, nil // it succeeded; processes that it left behind are not an error
	case err != nil:
		return said, fmt.Errorf("script %s: %w", m.Script, err)
	}
	return said, nil
}

// script returns the file of a name, if the file and every folder above it belong to root
// or to this user and no other user can change them.
func (w *Waker) script(m Method) (string, error) {
	if err := m.checkScript(); err != nil {
		return "", err
	}
	if w.config.Scripts == "" {
		return "", problem.Refuse("script", "let the operator set the server's wake_scripts to a folder", "this server runs no wake scripts")
	}
	folder, err := filepath.EvalSymlinks(w.config.Scripts)
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err != nil {
		return "", problem.Refuse("script", "make the folder that wake_scripts names", "the folder of wake scripts cannot be read: %v", err)
	}
	file := filepath.Join(folder, m.Script)
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", problem.Refuse("script", "put it into the folder that wake_scripts names", "there is no script %q", m.Script)
	case err != nil:
		return "", problem.Refuse("script", "let the server read its folder of wake scripts", "cannot look at %q: %v", m.Script, err)
	case !info.Mode().IsRegular():
		return "", problem.Refuse("script", "put the file itself there", "%q is not a plain file", m.Script)
	case info.Mode().Perm()&0o111 == 0:
		return "", problem.Refuse("script", "make it executable: chmod 0755", "%q cannot be run", m.Script)
	case !ours(info):
		return "", problem.Refuse("script", "give it to root and let nobody else write it: chown root, chmod 0755", "%q can be changed by others", m.Script)
	}
	for dir := folder; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || !ours(info) && info.Mode()&os.ModeSticky == 0 {
			return "", problem.Refuse("script", "give the folder and those above it to root and let nobody else write them", "the folder %s can be changed by others", dir)
		}
		if dir == filepath.Dir(dir) {
			return file, nil
		}
	}
}

// ours reports whether only root and this user can change a file.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Getuid()) && info.Mode().Perm()&0o022 == 0
}
