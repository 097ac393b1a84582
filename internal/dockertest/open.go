package dockertest

import "context"

// Open starts an engine for a program that is not a test, such as a benchmark. The caller
// must close it.
func Open(ctx context.Context) (*Engine, error) {
	if err := possible(); err != nil {
		return nil, err
	}
	return launch(ctx)
}

// Close ends the engine and everything in it.
func (e *Engine) Close() error { return e.stop() }
