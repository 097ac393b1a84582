package timeline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Folder is an Exporter that writes one file of JSON lines per partition. The
// file stands under its name only when it is whole and on the disk.
type Folder string

// Export writes PARTITION.jsonl.
func (f Folder) Export(_ context.Context, partition string, rows Rows) (location string, n int64, err error) {
	dir, err := filepath.Abs(string(f))
	if err != nil {
		return "", 0, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", 0, err
	}
	if filepath.Base(partition) != partition {
		return "", 0, fmt.Errorf("%q is not the name of a partition", partition)
	}
	location = filepath.Join(dir, partition+".jsonl")
	draft, err := os.CreateTemp(dir, partition+".*.draft")
	if err != nil {
		return "", 0, err
	}
	n, err = write(draft, rows)
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), location)
	}
	if err != nil {
		return "", 0, errors.Join(err, os.Remove(draft.Name()))
	}
	return location, n, syncDir(dir)
}

// write writes the rows and makes sure that they are on the disk.
func write(f *os.File, rows Rows) (n int64, err error) {
	out := bufio.NewWriterSize(f, 1<<20)
	for line, err := range rows {
		if err != nil {
			return n, err
		}
		// Errors of a bufio.Writer stick until Flush.
		_, _ = out.Write(line)
		if err := out.WriteByte('\n'); err != nil {
			return n, err
		}
		n++
	}
	if err := out.Flush(); err != nil {
		return n, err
	}
	return n, f.Sync()
}

// syncDir makes a rename survive a crash of the machine.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
