package home

import (
	"archive/tar"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nonblock opens a FIFO that took the place of a file without waiting for its other end.
const nonblock = unix.O_NONBLOCK

type inode struct{ dev, ino uint64 }

// inodeOf is the identity of a file, and whether it has several names.
func inodeOf(info fs.FileInfo) (inode, bool) {
	st := info.Sys().(*syscall.Stat_t)
	return inode{st.Dev, st.Ino}, st.Nlink > 1
}

func ownerOf(info fs.FileInfo) (uid, gid int) {
	st := info.Sys().(*syscall.Stat_t)
	return int(st.Uid), int(st.Gid)
}

// dataOf is where a file has data, or nil if it has no holes.
func dataOf(f *os.File, info fs.FileInfo) ([]part, error) {
	size := info.Size()
	if size == 0 || info.Sys().(*syscall.Stat_t).Blocks*512 >= size {
		return nil, nil
	}
	fd := int(f.Fd())
	var parts []part
	for at := int64(0); at < size; {
		begin, err := unix.Seek(fd, at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break // a hole to the end
		}
		if err != nil {
			return nil, fmt.Errorf("find holes: %w", err)
		}
		end, err := unix.Seek(fd, begin, unix.SEEK_HOLE)
		if err != nil {
			return nil, fmt.Errorf("find holes: %w", err)
		}
		if end = min(end, size); begin < end {
			parts = append(parts, part{begin, end - begin})
		}
		at = max(end, begin+1)
	}
	if _, err := unix.Seek(fd, 0, 0); err != nil {
		return nil, fmt.Errorf("find holes: %w", err)
	}
	if len(parts) == 1 && parts[0] == (part{0, size}) {
		return nil, nil
	}
	if parts == nil {
		parts = []part{{0, 0}}
	}
	return parts, nil
}

const (
	// As star, GNU tar and package tar name attributes.
	attributePrefix = "SCHILY.xattr."
	// As libarchive does: for names that a record cannot have.
	encodedPrefix = "LIBARCHIVE.xattr."
)

// keepsAttribute: others give rights, or belong to the file system or the machine.
func keepsAttribute(name string) bool {
	return strings.HasPrefix(name, "user.") || name == "system.posix_acl_access" || name == "system.posix_acl_default"
}

// keepAttributes puts the attributes of a file into its header.
func keepAttributes(f *os.File, h *tar.Header) error {
	fd := int(f.Fd())
	names, err := sized(func(b []byte) (int, error) { return unix.Flistxattr(fd, b) })
	if errors.Is(err, unix.ENOTSUP) || len(names) == 0 && err == nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read attributes: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if !keepsAttribute(name) {
			continue
		}
		value, err := sized(func(b []byte) (int, error) { return unix.Fgetxattr(fd, name, b) })
		if errors.Is(err, unix.ENODATA) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read attribute %s: %w", name, err)
		}
		if h.PAXRecords == nil {
			h.PAXRecords = map[string]string{}
		}
		if strings.Contains(name, "=") {
			h.PAXRecords[encodedPrefix+url.QueryEscape(name)] = base64.RawStdEncoding.EncodeToString(value)
		} else {
			h.PAXRecords[attributePrefix+name] = string(value)
		}
	}
	return nil
}

// sized calls with a buffer that is long enough.
func sized(read func([]byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 4 {
		buffer := make([]byte, size)
		n, err := read(buffer)
		if errors.Is(err, unix.ERANGE) && size < 1<<20 {
			continue
		}
		return buffer[:max(n, 0)], err
	}
}

// attributes reads the attributes of a header, all of which must be of a kind that is
// kept.
func attributes(h *tar.Header) (map[string]string, error) {
	found := map[string]string{}
	for k, v := range h.PAXRecords {
		name, plain := strings.CutPrefix(k, attributePrefix)
		if !plain {
			code, encoded := strings.CutPrefix(k, encodedPrefix)
			if !encoded {
				continue
			}
			var err error
			if name, err = url.QueryUnescape(code); err != nil {
				return nil, fmt.Errorf("the attribute %q has no name", clip(k))
			}
			value, err := base64.RawStdEncoding.DecodeString(v)
			if err != nil {
				return nil, fmt.Errorf("the attribute %q has no value", clip(k))
			}
			v = string(value)
		}
		if !keepsAttribute(name) || strings.ContainsRune(name, 0) || len(name) > maxName {
			return nil, fmt.Errorf("the attribute %q is not one that an archive may set", clip(name))
		}
		found[name] = v
	}
	return found, nil
}

// setAttributes gives a file its attributes. A file system that has none is no error
// if there are none to set.
func setAttributes(f *os.File, found map[string]string) error {
	for name, value := range found {
		if err := unix.Fsetxattr(int(f.Fd()), name, []byte(value), 0); err != nil {
			return fmt.Errorf("set attribute %s: %w", name, err)
		}
	}
	return nil
}

// makePipe makes a FIFO in the folder.
func makePipe(folder *os.File, name string, mode uint32) error {
	return unix.Mkfifoat(int(folder.Fd()), name, mode)
}

// setTime sets the time of what has the name in a folder, of a link and not of what it
// leads to.
func setTime(folder *os.File, name string, at time.Time) error {
	stamp, err := unix.TimeToTimespec(at)
	if err != nil {
		return fmt.Errorf("set time: %w", err)
	}
	if err := unix.UtimesNanoAt(int(folder.Fd()), name, []unix.Timespec{{Nsec: unix.UTIME_OMIT}, stamp}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("set time: %w", err)
	}
	return nil
}

// syncAll returns once everything is on the disk.
func syncAll(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Syncfs(int(dir.Fd()))
}
