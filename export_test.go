package weir

import "time"

// SetNameFor shortens the wait for a name that another worker has.
func (w *Worker) SetNameFor(d time.Duration) { w.nameFor = d }

// Miss lets the worker believe that it was not heard for so long, and beats.
func (w *Worker) Miss(d time.Duration) error { return w.keepName(w.life, w.keeper.Clock()-d) }
