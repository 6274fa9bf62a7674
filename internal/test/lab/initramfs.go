package lab

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// agentPackage is the guest's init.
const agentPackage = "github.com/ssdprobe/ssdprobe/internal/test/lab/agent"

// initramfs writes the machine's root to a file without a name: the shared base archive, followed
// by one with the agent, the modules and the files under test.
func (o Options) initramfs(t tools) (*os.File, error) {
	base, err := openBase(t)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	file, err := unnamedFile()
	if err != nil {
		return nil, err
	}
	if err := o.writeRoot(file, base, t.modules); err != nil {
		return nil, fmt.Errorf("write initramfs: %w", errors.Join(err, file.Close()))
	}
	return file, nil
}

func (o Options) writeRoot(file, base *os.File, modules string) error {
	if _, err := io.Copy(file, base); err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	a := newArchive(buffered)
	if err := withBuild(agentPackage, func(program string) error { return a.copyFile("/init", program) }); err != nil {
		return err
	}
	if err := o.addModules(a, modules); err != nil {
		return err
	}
	if err := o.addPrograms(a); err != nil {
		return err
	}
	if err := a.addAll(o.Files); err != nil {
		return err
	}
	if err := a.close(); err != nil {
		return err
	}
	return buffered.Flush()
}

func (o Options) addModules(a *archive, dir string) error {
	tree, err := readModuleTree(dir)
	if err != nil {
		return err
	}
	names := []string{"virtio-pci", "virtio-console"}
	if len(o.ForwardPorts) > 0 {
		names = append(names, "virtio-net")
	}
	order, err := tree.loadOrder(append(names, o.Modules...))
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, module := range order {
		guest := path.Join("/lib/modules", filepath.Base(dir), module)
		if err := a.copyFile(guest, filepath.Join(dir, module)); err != nil {
			return err
		}
		fmt.Fprintln(&list, guest)
	}
	return a.text("/lab/modules", list.String())
}

func (o Options) addPrograms(a *archive) error {
	programs := map[string]string{}
	for _, name := range o.Programs {
		host, err := lookPath(name)
		if err != nil {
			return err
		}
		programs[path.Join("/usr/bin", name)] = host
	}
	files, err := withLibraries(programs)
	if err != nil {
		return err
	}
	return a.addAll(files)
}

// unnamedFile creates a temporary file that vanishes with its last descriptor, however the process ends.
func unnamedFile() (*os.File, error) {
	file, err := os.CreateTemp("", "ssdprobe-lab-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
