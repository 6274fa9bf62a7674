package devicetest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// Server is a storage server. Every socket is a NUMA node with its own drives.
type Server struct {
	Sockets int
	Cores   int // physical cores of each socket
	Threads int // hardware threads of each core
	Drives  int // NVMe drives at each socket
}

// Make creates the files of the server in a temporary directory of the test. CPUs are
// numbered as Linux does on x86: the first threads of all cores, socket by socket, then
// the second threads. Drives are numbered socket by socket; each has a PCIe link of the
// fifth generation with four lanes, at full speed.
func (s Server) Make(t testing.TB) sysfs.FS {
	t.Helper()
	files := map[string]string{
		"sys/devices/system/cpu/online":  fmt.Sprintf("0-%d\n", s.Sockets*s.Cores*s.Threads-1),
		"sys/devices/system/node/online": fmt.Sprintf("0-%d\n", s.Sockets-1),
	}
	links := map[string]string{}
	for socket := range s.Sockets {
		maps.Copy(files, s.cpus(socket))
		for slot := range s.Drives {
			addDrive(files, links, socket, slot, socket*s.Drives+slot)
		}
	}
	return sysfstest.Make(t, files, links)
}

func (s Server) cpus(socket int) map[string]string {
	files := map[string]string{}
	var all []int
	for core := range s.Cores {
		threads := s.threads(socket, core)
		for _, cpu := range threads {
			files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)] = list(threads)
		}
		all = append(all, threads...)
	}
	slices.Sort(all)
	files[fmt.Sprintf("sys/devices/system/node/node%d/cpulist", socket)] = list(all)
	return files
}

// threads returns the numbers of the CPUs that share a core.
func (s Server) threads(socket, core int) []int {
	threads := make([]int, s.Threads)
	for thread := range threads {
		threads[thread] = thread*s.Sockets*s.Cores + socket*s.Cores + core
	}
	return threads
}

// list returns "0,1,8,9": the kernel's notation, but without ranges.
func list(numbers []int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",") + "\n"
}

func addDrive(files, links map[string]string, socket, slot, number int) {
	domain := fmt.Sprintf("%04x", socket)
	port := fmt.Sprintf("sys/devices/pci%s:00/%s:00:%02x.0", domain, domain, slot+1)
	function := fmt.Sprintf("%s/%s:%02x:00.0", port, domain, slot+1)
	controller := fmt.Sprintf("%s/nvme/nvme%d", function, number)
	name := fmt.Sprintf("nvme%dn1", number)
	disk := path.Join(controller, name)
	device := fmt.Sprintf("259:%d", number)

	for _, end := range []string{port, function} {
		files[end+"/current_link_speed"] = "32.0 GT/s PCIe\n"
		files[end+"/max_link_speed"] = "32.0 GT/s PCIe\n"
		files[end+"/current_link_width"] = "4\n"
		files[end+"/max_link_width"] = "4\n"
		files[end+"/numa_node"] = fmt.Sprintf("%d\n", socket)
	}
	files[controller+"/model"] = fmt.Sprintf("%-40s\n", "KIOXIA KCD8XPUG7T68")
	files[controller+"/serial"] = fmt.Sprintf("%-20s\n", fmt.Sprintf("TEST%08d", number))
	files[controller+"/firmware_rev"] = fmt.Sprintf("%-8s\n", "0105")
	files[controller+"/transport"] = "pcie\n"
	files[controller+"/state"] = "live\n"
	files[disk+"/dev"] = device + "\n"
	files[disk+"/size"] = "15002931888\n"
	files[disk+"/wwid"] = fmt.Sprintf("eui.8ce38ee2%08x\n", number)
	files[disk+"/queue/logical_block_size"] = "512\n"
	files[disk+"/queue/physical_block_size"] = "4096\n"
	files[disk+"/queue/scheduler"] = "[none] mq-deadline\n"
	files[disk+"/queue/nr_requests"] = "1023\n"
	files[disk+"/queue/write_cache"] = "write through\n"

	links[disk+"/device"] = "../../" + path.Base(controller)
	links[controller+"/subsystem"] = "/sys/class/nvme"
	links["sys/class/nvme/"+path.Base(controller)] = "/" + controller
	for _, link := range []string{"sys/block/" + name, "sys/class/block/" + name, "sys/dev/block/" + device} {
		links[link] = "/" + disk
	}
}
