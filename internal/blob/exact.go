package blob

import (
	"fmt"
	"io"
)

// exactly passes on what r gives if that is size bytes. Else it fails before the
// end, so that whoever stores it does not store half of it. A negative size is
// any.
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
	// One byte more than may come shows that there is more.
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

// probe asks for a byte that should not be.
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

// source remembers what went wrong with it.
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
