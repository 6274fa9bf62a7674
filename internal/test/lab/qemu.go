package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/test/lab/wire"
)

// hardware is the description of the machine for QEMU's command line, with the files that QEMU
// inherits as descriptors.
type hardware struct {
	args   []string
	files  []*os.File // the first is descriptor 3
	drives []*drive
	err    error // the first encoding error
}

// describe returns the machine's hardware without its connections to the outside. The caller closes
// the files, even after an error.
func describe(o Options, t tools) (*hardware, error) {
	h := &hardware{}
	if len(o.ReachPorts) > 0 {
		if _, err := lookPath("socat"); err != nil { // QEMU would not report it
			return h, fmt.Errorf("%w (Debian package socat): by it the guest reaches ports of this host", err)
		}
	}
	initramfs, err := o.initramfs(t)
	if err != nil {
		return h, err
	}
	root := h.inherit(initramfs)
	// One thread for all processors of the guest: with one for each, a processor that waits for another spins while this
	// host has no CPU for the other.
	h.add("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-machine", "q35", "-accel", "tcg,thread=single", "-cpu", "qemu64,+rdrand",
		"-smp", fmt.Sprintf("%d,sockets=%d,cores=1,threads=1", o.CPUs, o.CPUs), "-m", fmt.Sprintf("%dM", o.MemoryMiB),
		"-kernel", t.kernel, "-initrd", fmt.Sprintf("/proc/self/fd/%d", root),
		"-append", strings.Join(append(kernelArgs(), o.KernelArgs...), " "))
	h.addNodes(o)
	h.addNetwork(o.ForwardPorts, o.ReachPorts)
	first := 0
	for _, d := range o.Drives {
		added := &drive{
			Drive: d, first: first, plugged: !d.Unplugged, cloned: o.drivesWith(d.Serial) > 1, bridged: o.NUMANodes > 1,
		}
		if err := h.addDrive(added); err != nil {
			return h, err
		}
		first += d.Controllers
	}
	return h, h.err
}

func kernelArgs() []string {
	return []string{
		"console=ttyS0", "quiet",
		"panic=-1",                                          // reboot at once, which ends QEMU
		"tsc=reliable", "no_timer_check", "mitigations=off", // things that emulation gets wrong or makes slow
		fmt.Sprintf("tsc_early_khz=%d", tscKHz()),
		"random.trust_cpu=on",
	}
}

// addLines connects the machine to this process: its console, QEMU's monitor and the agent.
func (h *hardware) addLines(monitor, agent *os.File) error {
	h.add("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
		"-chardev", fmt.Sprintf("socket,id=monitor,fd=%d", h.inherit(monitor)), "-mon", "chardev=monitor,mode=control",
		"-chardev", fmt.Sprintf("socket,id=agent,fd=%d", h.inherit(agent)))
	h.addJSON("-device", object{"driver": "virtio-serial-pci", "id": "serial", "bus": "pcie.0"})
	h.addJSON("-device", object{"driver": "virtserialport", "bus": "serial.0", "chardev": "agent", "nr": wire.Port})
	return h.err
}

// addTerminal makes the console interactive, with QEMU's monitor behind Control-A C.
func (h *hardware) addTerminal() {
	h.add("-chardev", "stdio,id=console,signal=off,mux=on", "-serial", "chardev:console", "-mon", "chardev=console")
}

func (h *hardware) addNodes(o Options) {
	if o.NUMANodes == 1 {
		return
	}
	for node := range o.NUMANodes {
		memory := fmt.Sprintf("memory%d", node)
		size := int64(share(o.MemoryMiB, o.NUMANodes, node)) << 20
		h.addJSON("-object", object{"qom-type": "memory-backend-ram", "id": memory, "size": size})
		h.add("-numa", fmt.Sprintf("node,nodeid=%d,memdev=%s", node, memory))
	}
	for cpu := range o.CPUs {
		// Two processors on two nodes are 0 and 1, four are 0, 0, 1, 1.
		h.add("-numa", fmt.Sprintf("cpu,node-id=%d,socket-id=%d,core-id=0,thread-id=0", cpu*o.NUMANodes/o.CPUs, cpu))
	}
	// The first host bridge belongs to no node, so each node gets one more.
	for node := range o.NUMANodes {
		h.addJSON("-device", object{
			"driver": "pxb-pcie", "id": hostBridge(node), "bus": "pcie.0", "bus_nr": firstBus(node), "numa_node": node,
		})
	}
}

// share splits a total evenly, with the remainder in the first share.
func share(total, parts, part int) int {
	if part == 0 {
		return total - total/parts*(parts-1)
	}
	return total / parts
}

// HostAddress is the address at which the guest reaches ports of this host.
const HostAddress = "10.0.2.100"

func (h *hardware) addNetwork(ports, reached []int) {
	if len(ports)+len(reached) == 0 {
		return
	}
	network := "user,id=net,restrict=on"
	for _, port := range ports {
		// QEMU chooses a free port of the host.
		network += fmt.Sprintf(",hostfwd=tcp:127.0.0.1:0-:%d", port)
	}
	for _, port := range reached {
		network += fmt.Sprintf(",guestfwd=tcp:%[1]s:%[2]d-cmd:socat - TCP:127.0.0.1:%[2]d", HostAddress, port)
	}
	h.add("-netdev", network)
	// Without a boot ROM, which is in a separate package.
	h.addJSON("-device", object{"driver": "virtio-net-pci", "netdev": "net", "bus": "pcie.0", "romfile": ""})
}

func (h *hardware) addDrive(d *drive) error {
	image, err := d.Drive.image()
	if err != nil {
		return err
	}
	d.image = h.inherit(image)
	h.drives = append(h.drives, d)
	h.addJSON("-object", object{"qom-type": "throttle-group", "id": d.limitsNode()})
	for _, node := range d.blockNodes() {
		h.addJSON("-blockdev", node)
	}
	devices := d.fixtures()
	if d.plugged {
		devices = append(devices, d.controllers()...)
		devices = append(devices, d.namespaces()...)
	}
	for _, device := range devices {
		h.addJSON("-device", device)
	}
	return nil
}

// addJSON adds an option in JSON. Only Properties can fail to encode, so the error is checked once, at the end.
func (h *hardware) addJSON(option string, value object) {
	encoded, err := json.Marshal(value)
	h.err = cmp.Or(h.err, err)
	h.add(option, string(encoded))
}

// inherit passes the file to QEMU, and returns its descriptor there.
func (h *hardware) inherit(file *os.File) int {
	h.files = append(h.files, file)
	const firstExtraFile = 3
	return firstExtraFile + len(h.files) - 1
}

func (h *hardware) add(args ...string) { h.args = append(h.args, args...) }

// closeFiles closes the files that QEMU has inherited or no longer needs.
func (h *hardware) closeFiles() {
	for _, file := range h.files {
		file.Close() //nolint:errcheck // only a duplicate, or of no use any more
	}
	h.files = nil
}
