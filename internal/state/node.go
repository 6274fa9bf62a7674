package state

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Node is what is kept of the node across restarts: how its drives behaved in common.
type Node struct {
	// Engine is the probe engine whose rounds were judged.
	Engine string      `json:"engine"`
	Judge  judge.State `json:"judge"`
}

// LastRound returns when the last round of any drive was; zero if none is stored.
func (n Node) LastRound() (last time.Time) {
	for _, d := range n.Judge.Drives {
		if d.Last.After(last) {
			last = d.Last
		}
	}
	return last
}

// Watches reports whether a target was watched when this was stored. Those that are gone are remembered for a day.
func (n Node) Watches(id string) bool {
	return slices.ContainsFunc(n.Judge.Drives, func(d judge.DriveState) bool { return d.ID == id && d.Removed.IsZero() })
}

// nodeName is the name of the only value of its kind.
const nodeName = "judge"

// Node returns what is stored about the node; false if nothing is, as in a directory of an earlier version.
func (d Dir) Node() (n Node, found bool, err error) {
	found, err = d.Load(kindNode, nodeName, &n)
	if engine := probe.Inherit(record.Conditions{Engine: n.Engine}).Engine; found && engine != probe.Name {
		n.Engine, n.Judge = probe.Name, n.Judge.WithoutProbes()
	}
	return n, found, err
}

// RememberedNode returns the stored node without adding drives, which suffices to accept what was found.
func (d Dir) RememberedNode() (*judge.Node, error) {
	n := judge.NewNode(drift.Default())
	kept, _, err := d.Node()
	if err == nil {
		err = n.Restore(kept.Judge)
	}
	return n, err
}

// SaveNode replaces what is stored about the node.
func (d Dir) SaveNode(s judge.State) error {
	return d.Save(kindNode, nodeName, Node{Engine: probe.Name, Judge: s})
}

// SetNodeAside renames the file of a node whose state is invalid, and returns a *store.DamagedError that says so.
func (d Dir) SetNodeAside(cause error) error { return d.SetAside(kindNode, nodeName, cause) }
