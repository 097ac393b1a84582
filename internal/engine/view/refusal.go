package view

import (
	"fmt"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/refusal"
)

// refuse says what is wrong with a field of the input; an empty one is the whole.
func refuse(field, format string, args ...any) error {
	return fmt.Errorf("%w: %w", weir.ErrInvalid, refusal.New(field, format, args...))
}

// missing says that something is not there.
func missing(format string, args ...any) error {
	return fmt.Errorf("%w: %w", weir.ErrNotFound, refusal.New("", format, args...))
}

func noSuch(noun string, name any) error { return missing(refusal.NoSuch, noun, name) }
