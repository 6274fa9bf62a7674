package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// nodeOf is what a problem with the stored state of the node is reported under.
const nodeOf = "node"

// restoreNode puts back what is stored of the node. What makes no sense is set aside and learned anew. It
// fails when the directory hangs: what is there would be replaced by less.
func (d *Daemon) restoreNode() error {
	s := d.shared.state
	_, err := through(context.Background(), s, saveTimeout, func(dir state.Dir) (struct{}, error) {
		kept, found, err := dir.Node()
		if !found {
			return struct{}{}, err
		}
		if unfit := d.shared.judging.restore(kept.Judge); unfit != nil {
			err = dir.SetNodeAside(unfit)
		}
		return struct{}{}, err
	})
	if hung := new(guard.HungError); errors.As(err, &hung) {
		return fmt.Errorf("read the state directory %s: its filesystem hangs: %w", s.Dir.Dir(), err)
	}
	if err != nil {
		s.report(nodeOf, err)
	}
	return nil
}

// saveNode stores what is known of the node.
func (d *Daemon) saveNode(timeout time.Duration) {
	kept := d.shared.judging.kept()
	err := d.shared.state.save(context.Background(), timeout, func(s state.Dir) error { return s.SaveNode(kept) })
	d.shared.state.report(nodeOf, err)
}

// judgeOn judges what is over while no round ends, and keeps what is known.
func (d *Daemon) judgeOn(ctx context.Context) error {
	saved := time.Now().Add(firstSave - saveEvery)
	for ctx.Err() == nil {
		schedule.Pause(ctx, judgeEvery)
		events, news := d.shared.judging.advance()
		d.tellJudged(events)
		if news || time.Since(saved) >= saveEvery {
			saved = time.Now()
			d.saveNode(saveTimeout)
		}
	}
	d.saveNode(lastSaveTimeout)
	return nil
}

// restore puts back what was kept of the node, before any target is there.
func (j *judging) restore(s judge.State) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.node.Restore(s)
}

// kept returns what is to be stored of the node.
func (j *judging) kept() judge.State {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.news = false
	return j.node.State(time.Now())
}
