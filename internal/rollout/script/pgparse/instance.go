package pgparse

import (
	"context"
	"errors"
	"fmt"
	"os"
	_ "unsafe" // for go:linkname

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/wasilibs/wazero-helpers/allocator"
)

// The module and the host functions it calls for setjmp and longjmp lie in
// internal packages of go-pgquery. If a new version of it names them otherwise,
// the build fails here.
//
//go:linkname libPGQuery github.com/wasilibs/go-pgquery/internal/wasm.LibPGQuery
var libPGQuery []byte

//go:linkname hostFunctions github.com/wasilibs/go-pgquery/internal/wasix32v1.Instantiate
func hostFunctions(context.Context, wazero.Runtime) (api.Closer, error)

//go:linkname hostContext github.com/wasilibs/go-pgquery/internal/wasix32v1.BackgroundContext
func hostContext() context.Context

var errMemory = errors.New("an address outside of the parser's memory")

// instance is the module with a memory of its own.
type instance struct {
	runtime wazero.Runtime
	module  api.Module
}

// load takes the machine code from the cache or compiles it.
func load(ctx context.Context) (*instance, error) {
	cfg := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesThreads).
		WithCloseOnContextDone(true)
	if folder, ok := cacheFolder(); ok {
		cache, err := wazero.NewCompilationCacheWithDir(folder)
		if err != nil {
			return nil, err
		}
		cfg = cfg.WithCompilationCache(cache)
	}
	in := &instance{runtime: wazero.NewRuntimeWithConfig(ctx, cfg)}
	if err := in.start(ctx); err != nil {
		in.drop()
		return nil, err
	}
	return in, nil
}

func (in *instance) start(ctx context.Context) error {
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, in.runtime); err != nil {
		return err
	}
	if _, err := hostFunctions(ctx, in.runtime); err != nil {
		return err
	}
	code, err := in.runtime.CompileModule(ctx, libPGQuery)
	if err != nil {
		return err
	}
	module, err := in.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, allocator.NewNonMoving()), code,
		wazero.NewModuleConfig().WithStderr(os.Stderr).WithStartFunctions("_initialize"))
	if err != nil {
		return err
	}
	in.module = module
	_, err = in.call(checkpoints(ctx), "pg_query_init")
	return err
}

// call calls a function of the module.
func (in *instance) call(ctx context.Context, name string, args ...uint64) (uint64, error) {
	f := in.module.ExportedFunction(name)
	if f == nil {
		return 0, fmt.Errorf("the parser's module has no %s", name)
	}
	out, err := f.Call(ctx, args...)
	if err != nil || len(out) == 0 {
		return 0, err
	}
	return out[0], nil
}

// drop frees the memory. What is spoiled is not closed in an orderly way.
func (in *instance) drop() {
	_ = in.runtime.Close(context.Background()) // nothing of it is used again
}

// checkpointed is a context with the end of one and the values of another.
type checkpointed struct {
	context.Context
	values context.Context
}

func (c checkpointed) Value(key any) any {
	if v := c.values.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// checkpoints gives a call the place where the host functions keep what setjmp
// saved.
func checkpoints(ctx context.Context) context.Context { return checkpointed{ctx, hostContext()} }
