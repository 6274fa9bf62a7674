package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
)

const (
	// memoryParameter is the name of the parameter that memoryKnob declares, and of its value among the settings of a
	// workload.
	memoryParameter = "memory"
	// bindMemory and anyMemory are the values of that parameter.
	bindMemory = "bind"
	anyMemory  = "any"
)

// memoryKnob declares the parameter with which a suite places the load's buffers in the drive's NUMA node. What a drive
// reads into the memory of another node crosses the link between the processors.
func memoryKnob(s *Suite) knob[[]string] {
	return declare(s, memoryParameter, "where the buffers of the load are: bind is the NUMA node of each drive, any leaves it to the kernel, bind,any compares both; "+
		"without effect on a machine with one node", []string{bindMemory}, list(choice(bindMemory, anyMemory)))
}

// withMemory returns the loads under each memory placement. If memory cannot be bound, the placements do not differ,
// and each load is returned once.
func withMemory(loads []load, values []string, targets []Target) []load {
	i := slices.IndexFunc(targets, func(t Target) bool { return t.MemoryNode != nil })
	var all []load
	for _, value := range values {
		for _, l := range loads {
			switch {
			case i < 0 && len(values) > 1:
				l.also("memory not bound: " + targets[0].unbound())
			case i < 0 && targets[0].NotBound != "":
				l.also("memory not bound: " + targets[0].NotBound)
			case i < 0:
			case value == bindMemory && len(targets) > 1:
				l.memory = value
				l.also("memory of each drive's NUMA node")
				for _, t := range targets {
					if t.MemoryNode == nil {
						l.also(fmt.Sprintf("memory for %s not bound: %s", t.Path, t.unbound()))
					}
				}
			case value == bindMemory:
				l.memory = value
				l.also(fmt.Sprintf("memory of NUMA node %d", *targets[i].MemoryNode))
			default:
				l.also("memory of any NUMA node")
			}
			if i >= 0 && len(values) > 1 {
				l.comparesMemory = true
				l.prefix += "memory-" + value + "-"
			}
			all = append(all, l)
		}
		if i < 0 {
			break
		}
	}
	return all
}

// also adds to the conditions of a load.
func (l *load) also(condition string) {
	if l.condition != "" {
		l.condition += ", "
	}
	l.condition += condition
}

// unbound returns why memory cannot be bound.
func (t Target) unbound() string {
	if t.NotBound != "" {
		return t.NotBound
	}
	return "this machine has one NUMA node, or does not say which is the drive's"
}

// freeMemory asks fio whether it can bind memory to the nodes of the targets. If it cannot, the load runs without; that
// is an error only if the user asked for it.
func (o *Options) freeMemory(ctx context.Context, s Suite) error {
	if !slices.ContainsFunc(s.Parameters, func(p Parameter) bool { return p.Name == memoryParameter }) {
		return nil
	}
	checked := map[int]error{}
	o.More = slices.Clone(o.More)
	free := func(t *Target) error {
		if t.MemoryNode == nil {
			return nil
		}
		node := *t.MemoryNode
		err, known := checked[node]
		if !known {
			err = o.Fio.CheckMemoryNode(ctx, node)
			checked[node] = err
		}
		if err == nil || o.Values.texts[memoryParameter] == anyMemory {
			return nil
		}
		if !errors.Is(err, fiorun.ErrMemoryNode) {
			return err
		}
		if _, asked := o.Values.texts[memoryParameter]; asked {
			return fmt.Errorf("%s: %w; leave the parameter out, or set it to any", memoryParameter, err)
		}
		t.MemoryNode, t.NotBound = nil, err.Error()
		return nil
	}
	errs := []error{free(&o.Target)}
	for i := range o.More {
		errs = append(errs, free(&o.More[i]))
	}
	return errors.Join(errs...)
}
