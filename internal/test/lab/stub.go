package lab

import (
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// usedByFio reports whether the lab uses this library of fio. Debian's fio also links clients of storage
// clusters, 80 MB in 55 libraries. The loader binds all their symbols whenever fio starts, which takes
// the emulated processor a second. Stubs replace them; calling a function of a stub ends the program.
func usedByFio(path string) bool {
	used := []string{"libc.so.6", "libm.so.6", "libz.so.1", "libaio.so.1", "libnuma.so.1", "ld-linux-x86-64.so.2"}
	return slices.Contains(used, filepath.Base(path))
}

// fioLibraries returns the paths of the used libraries.
func fioLibraries(fio string) ([]string, error) {
	all, err := libraries(fio)
	return slices.DeleteFunc(all, func(path string) bool { return !usedByFio(path) }), err
}

// stub is a library that has only names.
type stub map[string][]string // version, "" for none, to functions

// fioStubs returns the stubs that fio needs, by library name.
func fioStubs(fio string) (map[string]stub, error) {
	file, err := elf.Open(fio)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	needed, err := file.ImportedLibraries()
	if err != nil {
		return nil, err
	}
	needed = slices.DeleteFunc(needed, usedByFio)
	stubs := map[string]stub{}
	for _, name := range needed {
		stubs[name] = stub{}
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	for _, s := range symbols {
		library := s.Library
		if s.Version == "" && len(needed) > 0 {
			// The library of the symbol is unknown. The used libraries come before the last one, so
			// their symbols take precedence.
			library = needed[len(needed)-1]
		}
		if stub, ok := stubs[library]; ok && s.Section == elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			stub[s.Version] = append(stub[s.Version], s.Name)
		}
	}
	return stubs, nil
}

// addFioStubs adds the stubs where the guest's loader finds them.
func (a *archive) addFioStubs(fio string) error {
	stubs, err := fioStubs(fio)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ssdprobe-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder in the one for temporary files
	for _, name := range slices.Sorted(maps.Keys(stubs)) {
		path := filepath.Join(dir, name)
		if err := stubs[name].build(path); err != nil {
			return fmt.Errorf("stub of %s: %w", name, err)
		}
		if err := a.copyFile("/usr/lib/"+name, path); err != nil {
			return err
		}
	}
	return nil
}

func (s stub) build(path string) error {
	var code, versions strings.Builder
	code.WriteString(".text\n")
	for _, version := range slices.Sorted(maps.Keys(s)) {
		for _, function := range s[version] {
			fmt.Fprintf(&code, ".globl %[1]s\n.type %[1]s, @function\n%[1]s: ud2\n", function)
		}
		if version != "" {
			fmt.Fprintf(&versions, "%s { %s; };\n", version, strings.Join(s[version], "; "))
		}
	}
	args := []string{"-shared", "-nostdlib", "-Wl,-soname," + filepath.Base(path), "-o", path, path + ".s"}
	if err := os.WriteFile(path+".s", []byte(code.String()), 0o600); err != nil {
		return err
	}
	if versions.Len() > 0 {
		if err := os.WriteFile(path+".map", []byte(versions.String()), 0o600); err != nil {
			return err
		}
		args = append(args, "-Wl,--version-script,"+path+".map")
	}
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil { //nolint:noctx // ends at once
		return fmt.Errorf("gcc: %w\n%s", err, out)
	}
	return nil
}
