package iolatency

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// kernel is what runs in the kernel. It ends with the process: nothing is pinned.
type kernel struct {
	programs programsObjects
	links    []link.Link
	stripes  int

	devices, counts, control *ebpf.Memory
}

// load loads the programs and has them run at every I/O.
func load() (_ *kernel, err error) {
	spec, err := loadPrograms()
	if err != nil {
		return nil, err
	}
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return nil, fmt.Errorf("count CPUs: %w", err)
	}
	k := &kernel{stripes: 1}
	for k.stripes < min(cpus, maxStripes) {
		k.stripes *= 2
	}
	if err := spec.Variables["stripes"].Set(uint32(k.stripes)); err != nil {
		return nil, err
	}
	spec.Maps[programsMapCounts].MaxEntries = uint32(slots * k.stripes)
	if err := spec.LoadAndAssign(&k.programs, nil); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	for memory, m := range map[**ebpf.Memory]*ebpf.Map{&k.devices: k.programs.Devices, &k.counts: k.programs.Counts, &k.control: k.programs.Controls} {
		if *memory, err = m.Memory(); err != nil {
			return nil, err
		}
	}
	if _, err := k.programs.Self.Run(&ebpf.RunOptions{}); err != nil {
		return nil, fmt.Errorf("learn the number of this process: %w", err)
	}
	if err := k.attach(); err != nil {
		return nil, err
	}
	return k, nil
}

// all are the programs that run at each I/O: first those that end one, so that each that is seen to begin is seen to end.
func (k *kernel) all() []*ebpf.Program {
	p := k.programs
	return []*ebpf.Program{p.RqComplete, p.BioComplete, p.RqMerge, p.RqRequeue, p.RqIssue, p.RqInsert, p.BioQueue}
}

func (k *kernel) attach() error {
	for _, program := range k.all() {
		l, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			return fmt.Errorf("attach %v: %w", program, err)
		}
		k.links = append(k.links, l)
	}
	return nil
}

func (k *kernel) close() error {
	var errs []error
	for _, l := range k.links {
		errs = append(errs, l.Close())
	}
	return errors.Join(append(errs, k.programs.Close())...)
}
