package iolatency

import (
	"errors"
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
)

// kernel is what runs in the kernel. It ends with the process, because nothing is pinned.
type kernel struct {
	programs programsObjects
	links    []link.Link
	bios     []link.Link // links of the programs for devices without a request queue; see watchBios
	stripes  int

	again bool // whether programs can be attached again without capabilities

	devices, counts, control *ebpf.Memory
	slows                    *ringbuf.Reader
}

// attachesWithoutRights is the first version of Linux on which a process may attach programs without the right
// to load them.
const attachesWithoutRights = 5<<16 | 19<<8

// load loads the programs and attaches those for requests. It also attaches those for bios if that would not be
// possible later.
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
	if k.slows, err = ringbuf.NewReader(k.programs.Slows); err != nil {
		return nil, errors.Join(err, k.programs.Close())
	}
	k.slows.SetDeadline(time.Unix(1, 0)) // so that a read never waits
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
	if k.links, err = attach(k.requestPrograms()); err != nil {
		return nil, err
	}
	version, err := features.LinuxVersionCode()
	if err != nil {
		return nil, err
	}
	if k.again = version >= attachesWithoutRights; !k.again {
		err = k.watchBios(true)
	}
	return k, err
}

// requestPrograms returns the programs that run at each request, and bioPrograms those that run at each bio.
// Programs for the end of an I/O come first, so that the end of each I/O is seen whose begin is seen.
func (k *kernel) requestPrograms() []*ebpf.Program {
	p := k.programs
	return []*ebpf.Program{p.RqComplete, p.RqMerge, p.RqRequeue, p.RqIssue, p.RqInsert}
}

func (k *kernel) bioPrograms() []*ebpf.Program {
	return []*ebpf.Program{k.programs.BioComplete, k.programs.BioQueue}
}

func (k *kernel) all() []*ebpf.Program { return append(k.requestPrograms(), k.bioPrograms()...) }

// attach attaches programs. Since Linux 5.19, this needs no capabilities.
func attach(programs []*ebpf.Program) (links []link.Link, err error) {
	for _, program := range programs {
		l, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("attach %v: %w", program, err), detach(links))
		}
		links = append(links, l)
	}
	return links, nil
}

func detach(links []link.Link) error {
	var errs []error
	for _, l := range links {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// watchBios attaches or detaches the programs for bios. They are attached only while needed, because each bio
// of the machine pays for them.
func (k *kernel) watchBios(on bool) (err error) {
	switch {
	case on && k.bios == nil:
		k.bios, err = attach(k.bioPrograms())
	case !on && k.bios != nil && k.again:
		err = detach(k.bios)
		k.bios = nil
	}
	return err
}

func (k *kernel) close() error {
	return errors.Join(k.slows.Close(), detach(k.links), detach(k.bios), k.programs.Close())
}
