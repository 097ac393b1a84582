package blob

import (
	"fmt"
	"io"
)

// exactly passes on the bytes of r if they are size bytes. Otherwise it fails before the
// end, so that the bucket does not store a part. A negative size allows any number.
func exactly(r io.Reader, size int64) io.Reader {
	if size < 0 {
		return r
	}
	return &exact{r: r, size: size, left: size}
}

type exact struct {
	r          io.Reader
	size, left int64
	err        error
}

func (e *exact) Read(p []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	// One byte more than allowed shows that there is more.
	n, err := e.r.Read(p)
	e.left -= int64(n)
	switch {
	case e.left < 0:
		n, err = 0, fmt.Errorf("more than %d bytes came: %w", e.size, io.ErrShortWrite)
	case err == io.EOF && e.left > 0:
		err = fmt.Errorf("%d bytes came instead of %d: %w", e.size-e.left, e.size, io.ErrUnexpectedEOF)
	case err == nil && e.left == 0:
		err = e.probe()
		if err != io.EOF {
			n = 0
		}
	}
	e.err = err
	return n, err
}

// probe reads one byte, which should not exist.
func (e *exact) probe() error {
	var one [1]byte
	for range 100 {
		n, err := e.r.Read(one[:])
		switch {
		case n > 0:
			return fmt.Errorf("more than %d bytes came: %w", e.size, io.ErrShortWrite)
		case err != nil:
			return err
		}
	}
	return io.ErrNoProgress
}

// source remembers the error of its reader.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
