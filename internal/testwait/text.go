package testwait

import (
	"bytes"
	"sync"
)

// Text is what others write while a test reads it: a log, or what a process prints.
type Text struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (x *Text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.text.Write(p)
}

// String is all so far.
func (x *Text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.text.String()
}

// Take is all so far, which is forgotten.
func (x *Text) Take() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	text := x.text.String()
	x.text.Reset()
	return text
}
