package weir

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

const (
	heartbeatEvery = 10 * time.Second
	// heldFor is how long a worker that was not heard is sure of its name: less than
	// the 30 s after which weir.register_worker gives it to another one.
	heldFor = 25 * time.Second
	// nameFor is how long to wait for a name: a process that died has it for those 30 s.
	nameFor = 35 * time.Second
)

// enlist registers the worker, and its node if it describes it. While the
// database cannot be reached it tries again, until ctx ends.
func (w *Worker) enlist(ctx context.Context) error {
	c := w.config
	begun := w.keeper.Clock()
	for {
		err := w.enlistOnce(ctx, c)
		if !errors.Is(err, ErrConflict) || w.keeper.Clock()-begun >= w.nameFor {
			return err
		}
		w.log.Warn("another worker has the name; it is asked for again", "error", err)
		if !pause(ctx, min(time.Second, w.nameFor/4)) {
			return err
		}
	}
}

func (w *Worker) enlistOnce(ctx context.Context, c WorkerConfig) error {
	return persist(ctx, 10*time.Second, func(ctx context.Context) error {
		if c.Node != "" && (c.NodeLabels != nil || c.NodeCapacity != nil) {
			if err := w.client.RegisterNode(ctx, Node{c.Node, c.NodeLabels, c.NodeCapacity}); err != nil {
				return err
			}
		}
		err := w.registerWorker(ctx)
		if c.Node != "" && errors.Is(err, ErrNotFound) {
			if err := w.client.RegisterNode(ctx, Node{Name: c.Node}); err != nil {
				return err
			}
			err = w.registerWorker(ctx)
		}
		return err
	})
}

func (w *Worker) registerWorker(ctx context.Context) error {
	labels := w.config.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	_, err := w.client.pool.Exec(ctx, `select weir.register_worker($1, $2, nullif($3, ''), $4, $5)`, w.config.Name, w.services, w.config.Node, labels, w.holder)
	return wrap("register worker", err)
}

// heartbeatLoop says that the worker lives, and hears what its node is told to
// do and whether anybody tends the engine.
func (w *Worker) heartbeatLoop(ctx context.Context) {
	for heard := w.keeper.Clock(); ; {
		err := w.keepName(ctx, heard)
		if err == nil {
			err = w.heartbeat(ctx)
		}
		if err == nil {
			heard = w.keeper.Clock()
		} else if ctx.Err() == nil {
			w.log.Warn("a heartbeat failed; it is tried again", "error", err)
		}
		// A little less each time, so that many workers do not beat as one.
		if !pause(ctx, heartbeatEvery-rand.N(heartbeatEvery/10)) { // #nosec G404 -- jitter is no secret
			return
		}
	}
}

// keepName asks for the worker's name again when it was not heard for so long that
// another one may have it. If one has, this worker stops: under one name two would
// take each other's work for their own.
func (w *Worker) keepName(ctx context.Context, heard time.Duration) error {
	if w.keeper.Clock()-heard < heldFor {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, heartbeatEvery/2)
	defer cancel()
	err := w.registerWorker(ctx)
	if errors.Is(err, ErrConflict) {
		w.twin.CompareAndSwap(nil, &err)
		w.begone()
	}
	return err
}

func (w *Worker) heartbeat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeatEvery/2)
	defer cancel()
	var mode Mode
	var tended bool
	err := wrap("heartbeat", w.client.pool.QueryRow(ctx, `select mode, tended from weir.heartbeat($1)`, w.config.Name).Scan((*string)(&mode), &tended))
	if errors.Is(err, ErrNotFound) {
		return w.enlist(ctx) // somebody cleaned up
	}
	if err != nil {
		return err
	}
	if !tended {
		w.client.tender.want()
	}
	if active := mode == Active; w.active.Swap(active) != active {
		w.log.Info("the node's mode changed", "node", w.config.Node, "mode", mode)
		w.wake()
	}
	return nil
}

// hintLoop turns notifications into wake-ups.
func (w *Worker) hintLoop(ctx context.Context) {
	sub := w.client.subscribe(channelAvailable, channelCancel)
	defer sub.Close()
	for {
		select {
		case <-sub.C():
		case <-ctx.Done():
			return
		}
		hint := sub.Take()
		if hint.All {
			w.wake()
			w.lookAt(ID{})
			continue
		}
		for _, note := range hint.Notes {
			switch note.Channel {
			case channelAvailable:
				if note.Payload == "" || w.serves(strings.Split(note.Payload, ",")) {
					w.wake()
				}
			case channelCancel:
				if id, err := ParseID(note.Payload); err == nil {
					w.lookAt(id)
				}
			}
		}
	}
}

// lookAt asks about a lease now, if it is ours. The zero ID means all.
func (w *Worker) lookAt(id ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ours := false
	w.held.each(func(l *lease) { ours = ours || l.task == id || id.IsZero() })
	if ours && !slices.Contains(w.named, id) {
		w.named = append(w.named, id)
		signal(w.keeper.Look)
	}
}
