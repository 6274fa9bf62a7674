package nvme

import (
	"fmt"
	"io/fs"
)

// IdentifyStructure selects what Identify returns, CNS (Figure 311).
type IdentifyStructure uint8

// The structures of this package.
const (
	IdentifyNamespace            IdentifyStructure = 0x00
	IdentifyController           IdentifyStructure = 0x01
	IdentifyActiveNamespaces     IdentifyStructure = 0x02
	IdentifyNamespaceIdentifiers IdentifyStructure = 0x03
	IdentifyUUIDs                IdentifyStructure = 0x17
)

// identifyBytes is the size of all of them.
const identifyBytes = 4096

// IdentifyCommand returns the command that asks for a structure. The namespace id
// is 0 for structures about the controller.
func IdentifyCommand(s IdentifyStructure, namespaceID uint32) Command {
	return Command{Opcode: OpcodeIdentify, NamespaceID: namespaceID, Dword10: uint32(s)}
}

// Namespaces returns the ids of the active namespaces, ascending: the Active
// Namespace ID list, CNS 02h. Controllers that do not tell which revision they
// follow, as before 1.2, are not asked.
func (d *Device) Namespaces() ([]uint32, error) {
	c, err := d.supports()
	if err != nil {
		return nil, err
	}
	if !c.Version.AtLeast(1, 2) {
		return nil, unsupported("active namespace list")
	}
	var ids []uint32
	var after uint32
	for {
		data, err := d.read(IdentifyCommand(IdentifyActiveNamespaces, after), identifyBytes)
		if err != nil {
			return nil, err
		}
		part, err := DecodeNamespaceList(data, after)
		if err != nil {
			return nil, err
		}
		ids = append(ids, part...)
		if len(part) < namespacesPerList {
			return ids, nil
		}
		after = part[len(part)-1]
		if after >= c.NamespaceLimit {
			return ids, nil // to ask for what comes after the last is refused
		}
	}
}

// Namespace returns the size and format of a namespace. One that is not there, or
// not active, is [fs.ErrNotExist].
func (d *Device) Namespace(id uint32) (Namespace, error) {
	if err := d.namespaceMayExist(id); err != nil {
		return Namespace{}, err
	}
	data, err := d.read(IdentifyCommand(IdentifyNamespace, id), identifyBytes)
	if err != nil {
		return Namespace{}, err
	}
	n, err := DecodeNamespace(data)
	if err != nil {
		return Namespace{}, err
	}
	if n.SizeBlocks == 0 { // an inactive namespace is all zeros
		return Namespace{}, fmt.Errorf("identify namespace %d: not active: %w", id, fs.ErrNotExist)
	}
	return n, nil
}

// NamespaceIdentifiers returns the lasting names of a namespace: the Namespace
// Identification Descriptor list, CNS 03h, which came with revision 1.3.
func (d *Device) NamespaceIdentifiers(id uint32) (NamespaceIdentifiers, error) {
	if err := d.namespaceMayExist(id); err != nil {
		return NamespaceIdentifiers{}, err
	}
	if !d.controller.Version.AtLeast(1, 3) {
		return NamespaceIdentifiers{}, unsupported("namespace identification descriptors")
	}
	data, err := d.read(IdentifyCommand(IdentifyNamespaceIdentifiers, id), identifyBytes)
	if err != nil {
		return NamespaceIdentifiers{}, err
	}
	return DecodeNamespaceIdentifiers(data)
}

// namespaceMayExist refuses ids that the controller would.
func (d *Device) namespaceMayExist(id uint32) error {
	c, err := d.supports()
	if err != nil {
		return err
	}
	if id == 0 || id > c.NamespaceLimit {
		return fmt.Errorf("identify namespace %d: ids are 1 to %d: %w", id, c.NamespaceLimit, fs.ErrNotExist)
	}
	return nil
}
