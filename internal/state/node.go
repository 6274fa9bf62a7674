package state

import (
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Node is what is kept of the node over a restart: what its drives did together.
type Node struct {
	// Engine made the rounds that were judged.
	Engine string      `json:"engine"`
	Judge  judge.State `json:"judge"`
}

// nodeName is the one value of its kind.
const nodeName = "judge"

// Node returns what is stored of the node; false when nothing is, as in a directory of an earlier version.
func (d Dir) Node() (n Node, found bool, err error) {
	found, err = d.Load(kindNode, nodeName, &n)
	if engine := probe.Inherit(record.Conditions{Engine: n.Engine}).Engine; found && engine != probe.Name {
		n.Engine, n.Judge = probe.Name, n.Judge.WithoutProbes()
	}
	return n, found, err
}

// RememberedNode is the node without its drives: they are remembered only, so that what was found can be accepted.
func (d Dir) RememberedNode() (*judge.Node, error) {
	n := judge.NewNode(drift.Default())
	kept, _, err := d.Node()
	if err == nil {
		err = n.Restore(kept.Judge)
	}
	return n, err
}

// SaveNode replaces what is stored of the node.
func (d Dir) SaveNode(s judge.State) error {
	return d.Save(kindNode, nodeName, Node{Engine: probe.Name, Judge: s})
}

// SetNodeAside renames the file of a node whose state makes no sense, and returns the *store.DamagedError
// that says so.
func (d Dir) SetNodeAside(cause error) error { return d.SetAside(kindNode, nodeName, cause) }
