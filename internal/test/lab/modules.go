package lab

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// moduleTree knows the kernel's modules by name, with '-' for '_', as in "dm-delay".
type moduleTree struct {
	builtin map[string]bool
	path    map[string]string   // below the modules folder
	depends map[string][]string // paths, in the order of modules.dep: the last is loaded first
}

func readModuleTree(dir string) (*moduleTree, error) {
	t := &moduleTree{builtin: map[string]bool{}, path: map[string]string{}, depends: map[string][]string{}}
	if err := scanFile(filepath.Join(dir, "modules.builtin"), t.scanBuiltin); err != nil {
		return nil, err
	}
	if err := scanFile(filepath.Join(dir, "modules.dep"), t.scanDependencies); err != nil {
		return nil, err
	}
	return t, nil
}

func scanFile(path string, scan func(io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := scan(file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// scanBuiltin reads lines such as "kernel/drivers/nvme/host/nvme.ko".
func (t *moduleTree) scanBuiltin(r io.Reader) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		t.builtin[moduleName(lines.Text())] = true
	}
	return lines.Err()
}

// scanDependencies reads lines such as "kernel/fs/xfs/xfs.ko: kernel/lib/libcrc32c.ko".
func (t *moduleTree) scanDependencies(r io.Reader) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		path, depends, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			return fmt.Errorf("line without a colon: %q", lines.Text())
		}
		name := moduleName(path)
		t.path[name] = path
		t.depends[name] = strings.Fields(depends)
	}
	return lines.Err()
}

// moduleName returns "dm-delay" for "kernel/drivers/md/dm-delay.ko.xz".
func moduleName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".ko")
	return strings.ReplaceAll(name, "_", "-")
}

// loadOrder lists the paths of the modules and of their dependencies, each after those that it
// depends on. It skips modules that are built into the kernel.
func (t *moduleTree) loadOrder(names []string) ([]string, error) {
	var order []string
	listed := map[string]bool{}
	add := func(path string) {
		if !listed[path] {
			listed[path] = true
			order = append(order, path)
		}
	}
	for _, name := range names {
		name = moduleName(name)
		path, ok := t.path[name]
		if !ok && t.builtin[name] {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("the laboratory's kernel has no module %s", name)
		}
		depends := t.depends[name]
		for i := len(depends) - 1; i >= 0; i-- {
			add(depends[i])
		}
		add(path)
	}
	return order, nil
}
