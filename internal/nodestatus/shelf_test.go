package nodestatus

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// errDown is the error of a refused connection.
var errDown = errors.New("connection refused")

// shelf stores nodes and events like an API server, but in memory, so that hours fit into a test. testCluster
// verifies that it behaves like a real one.
type shelf struct {
	mu      sync.Mutex
	stored  map[string]node
	events  []event
	version int

	down   bool          // does not answer
	takes  time.Duration // how long an answer takes, in the bubble of a test
	denies error         // the answer to all changes
	// deniesTaints is the answer to changes of taints only.
	deniesTaints error
	loses        int // how many answers to changes get lost, although the changes are made
	// meanwhile is called once before a change, as if another client had been faster.
	meanwhile func(*shelf)
	// changed is called after each change.
	changed func(*shelf)
	reached int // the most nodes with the taint at a time
}

func newShelf(names ...string) *shelf {
	s := &shelf{stored: map[string]node{}}
	for _, name := range names {
		var n node
		n.Metadata.Name, n.Metadata.UID = name, types.UID("uid-of-"+name)
		n.Status.Conditions = []condition{{Type: "Ready", Status: isTrue}}
		n.Spec.Taints = []json.RawMessage{json.RawMessage(`{"key":"storage","value":"only","effect":"NoSchedule"}`)}
		s.keep(n)
	}
	return s
}

func (s *shelf) set(change func(*shelf)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// keep stores a node with a new version.
func (s *shelf) keep(n node) node {
	s.version++
	n.Metadata.ResourceVersion = strconv.Itoa(s.version)
	s.stored[n.Metadata.Name] = n
	if s.changed != nil {
		s.changed(s)
	}
	return n
}

// look returns the current state of a node.
func (s *shelf) look(name string) node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copy(name)
}

func (s *shelf) copy(name string) node {
	n := s.stored[name]
	n.Spec.Taints, n.Status.Conditions = slices.Clone(n.Spec.Taints), slices.Clone(n.Status.Conditions)
	return n
}

func (s *shelf) node(_ context.Context, name string) (node, error) {
	<-time.After(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return node{}, errDown
	}
	if _, ok := s.stored[name]; !ok {
		return node{}, apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, name)
	}
	return s.copy(name), nil
}

func (s *shelf) nodes(context.Context) (all []node, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, errDown
	}
	for _, name := range slices.Sorted(maps.Keys(s.stored)) {
		all = append(all, s.copy(name))
	}
	return all, nil
}

// change changes the stored node, if its version is still that of n.
func (s *shelf) change(n node, change func(*node)) (node, error) {
	<-time.After(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.meanwhile; f != nil {
		s.meanwhile = nil
		f(s)
	}
	now := s.copy(n.Metadata.Name)
	switch {
	case s.down:
		return node{}, errDown
	case s.denies != nil:
		return node{}, s.denies
	case now.Metadata.ResourceVersion != n.Metadata.ResourceVersion:
		return node{}, apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, n.Metadata.Name, errors.New("it was modified"))
	}
	change(&now)
	s.keep(now)
	if s.loses > 0 {
		s.loses--
		return node{}, context.DeadlineExceeded
	}
	return s.copy(n.Metadata.Name), nil
}

func (s *shelf) setCondition(_ context.Context, n node, c condition) (node, error) {
	return s.change(n, func(n *node) {
		if at := n.condition(); at != nil {
			*at = c
			return
		}
		n.Status.Conditions = append(n.Status.Conditions, c)
	})
}

func (s *shelf) removeCondition(_ context.Context, n node) (node, error) {
	return s.change(n, func(n *node) {
		n.Status.Conditions = slices.DeleteFunc(n.Status.Conditions, func(c condition) bool { return c.Type == ConditionType })
	})
}

func (s *shelf) setTaints(_ context.Context, n node, taints []json.RawMessage) (node, error) {
	s.mu.Lock()
	err := s.deniesTaints
	s.mu.Unlock()
	if err != nil {
		return node{}, err
	}
	return s.change(n, func(n *node) { n.Spec.Taints = taints })
}

func (s *shelf) createEvent(_ context.Context, e event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.down:
		return errDown
	case s.denies != nil:
		return s.denies
	case slices.ContainsFunc(s.events, func(o event) bool { return o.Metadata.Name == e.Metadata.Name }):
		return apierrors.NewAlreadyExists(schema.GroupResource{Resource: "events"}, e.Metadata.Name)
	}
	s.events = append(s.events, e)
	if s.loses > 0 {
		s.loses--
		return context.DeadlineExceeded
	}
	return nil
}

// testCluster tests what a Reporter relies on. The node "storage-1" has the condition Ready and the taint
// "storage" with a value, and nothing that belongs to this package.
func testCluster(t *testing.T, c cluster) {
	ctx := t.Context()
	_, err := c.node(ctx, "absent")
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	first, err := c.node(ctx, "storage-1")
	require.NoError(t, err)
	assert.NotEmpty(t, first.Metadata.UID)
	assert.Nil(t, first.condition())
	assert.Empty(t, first.taint())
	all, err := c.nodes(ctx)
	require.NoError(t, err)
	assert.Equal(t, []node{first}, all)
	others := func(n node) (list []string) {
		for _, c := range n.Status.Conditions {
			if c.Type != ConditionType {
				list = append(list, c.Type+" "+c.Status)
			}
		}
		return list
	}
	require.Equal(t, []string{"Ready True"}, others(first))

	slow := condition{Type: ConditionType, Status: isTrue, Reason: DriveSevere, Message: "severe: \"nvme0n1\""}.at(first.Status.Conditions[0].LastHeartbeatTime.Time, nil)
	second, err := c.setCondition(ctx, first, slow)
	require.NoError(t, err)
	require.NotNil(t, second.condition())
	assert.True(t, second.condition().equal(slow), "%+v", second.condition())
	assert.Equal(t, []string{"Ready True"}, others(second))
	_, err = c.setCondition(ctx, first, slow.at(slow.LastHeartbeatTime.Add(1e9), nil))
	assert.True(t, apierrors.IsConflict(err), "an update of an old version: %v", err)
	_, err = c.setTaints(ctx, first, nil)
	assert.True(t, apierrors.IsConflict(err), "an update of an old version: %v", err)

	taints, err := second.withTaint("NoSchedule")
	require.NoError(t, err)
	third, err := c.setTaints(ctx, second, taints)
	require.NoError(t, err)
	assert.Equal(t, "NoSchedule", third.taint())
	require.Len(t, third.Spec.Taints, 2)
	assert.JSONEq(t, string(first.Spec.Taints[0]), string(third.Spec.Taints[0]), "that of another, with its value")
	taints, err = third.withTaint("")
	require.NoError(t, err)
	fourth, err := c.setTaints(ctx, third, taints)
	require.NoError(t, err)
	assert.Empty(t, fourth.taint())
	assert.Len(t, fourth.Spec.Taints, 1)

	fifth, err := c.removeCondition(ctx, fourth)
	require.NoError(t, err)
	assert.Nil(t, fifth.condition())
	assert.Equal(t, []string{"Ready True"}, others(fifth))
	_, err = c.removeCondition(ctx, fifth)
	require.NoError(t, err, "there is none any more")

	r := newReporter(Options{Node: "storage-1"}, c)
	told := news{"eui.1", nil, event{Type: "Normal", Reason: DriveGone, Note: "nvme0n1 is no longer watched"}}
	require.NoError(t, r.tell(ctx, fifth, told))
	require.NoError(t, r.tell(ctx, fifth, told), "that is there already")
}

func TestShelf(t *testing.T) { testCluster(t, newShelf("storage-1")) }
