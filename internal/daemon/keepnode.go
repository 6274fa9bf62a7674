package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// nodeOf is the id under which problems with the stored state of the node are reported.
const nodeOf = "node"

// restoreNode restores the stored state of the node. State that is not valid is set aside and learned anew.
// restoreNode fails when the directory hangs, because a poorer state would later replace the stored one.
func (d *Daemon) restoreNode() error {
	s := d.shared.state
	err := s.do(context.Background(), saveTimeout, func(dir state.Dir) error {
		kept, found, err := dir.Node()
		if !found {
			return err
		}
		if unfit := d.shared.judging.restore(kept.Judge); unfit != nil {
			err = dir.SetNodeAside(unfit)
		}
		return err
	})
	if guard.Hangs(err) {
		return fmt.Errorf("read the state directory %s: its filesystem hangs: %w", s.Dir.Dir(), err)
	}
	if d.nodeUnread = unreadable(err); d.nodeUnread {
		err = fmt.Errorf("%w; it is not overwritten, restart ssdprobe when it can be read", err)
	}
	if err != nil {
		s.report(nodeOf, err)
	}
	return nil
}

// saveNode saves the state of the node, unless stored state could not be read.
func (d *Daemon) saveNode(timeout time.Duration) {
	if d.nodeUnread {
		return
	}
	kept := d.shared.judging.kept()
	err := d.shared.state.save(context.Background(), timeout, func(s state.Dir) error { return s.SaveNode(kept) })
	d.shared.state.report(nodeOf, err)
}

// judgeOn judges the blocks that have ended while no round ends, and saves the state of the node, until ctx ends.
func (d *Daemon) judgeOn(ctx context.Context) error {
	saved := time.Now().Add(firstSave - state.SavedEvery)
	for ctx.Err() == nil {
		schedule.Pause(ctx, judgeEvery)
		events, news := d.shared.judging.advance()
		d.tellJudged(events)
		if news || time.Since(saved) >= state.SavedEvery {
			saved = time.Now()
			d.saveNode(saveTimeout)
		}
	}
	d.saveNode(lastSaveTimeout)
	return nil
}

// restore restores the state of the node. It must be called before any target is attached.
func (j *judging) restore(s judge.State) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.node.Restore(s)
}

// kept returns the state of the node to save.
func (j *judging) kept() judge.State {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.news = false
	return j.node.State(time.Now())
}
