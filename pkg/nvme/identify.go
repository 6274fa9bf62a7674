package nvme

import (
	"errors"
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
	IdentifyAllocatedNamespaces  IdentifyStructure = 0x10
	IdentifyControllers          IdentifyStructure = 0x13 // of the subsystem
	IdentifyUUIDs                IdentifyStructure = 0x17
)

// identifyBytes is the size of each of these structures.
const identifyBytes = 4096

// IdentifyCommand returns the command that asks for a structure. The namespace id
// is 0 for structures about the controller.
func IdentifyCommand(s IdentifyStructure, namespaceID uint32) Command {
	return Command{Opcode: OpcodeIdentify, NamespaceID: namespaceID, Dword10: uint32(s)}
}

// Namespaces returns the ids of the active namespaces in ascending order: the Active
// Namespace ID list, CNS 02h. The error matches [errors.ErrUnsupported] for controllers
// of a revision before 1.2, which need not report their revision.
func (d *Device) Namespaces() ([]uint32, error) {
	c, err := d.supports()
	if err != nil {
		return nil, err
	}
	if !c.Version.AtLeast(1, 2) {
		return nil, unsupported("active namespace list")
	}
	return d.namespaceList(IdentifyActiveNamespaces, c.NamespaceLimit)
}

// AllocatedNamespaces returns the ids of all namespaces of the subsystem in ascending
// order, including those that this controller does not reach: the Allocated Namespace
// ID list, CNS 10h. The error matches [errors.ErrUnsupported] for controllers without
// namespace management.
func (d *Device) AllocatedNamespaces() ([]uint32, error) {
	c, err := d.supports()
	if err != nil {
		return nil, err
	}
	if !c.AdminCommands.Has(AdminCommandNamespaceManagement) {
		return nil, unsupported("allocated namespace list")
	}
	return d.namespaceList(IdentifyAllocatedNamespaces, c.NamespaceLimit)
}

// Controllers returns the ids of all controllers of the subsystem in ascending order,
// at most 2047: the Controller List, CNS 13h. The error matches [errors.ErrUnsupported]
// for controllers without namespace management.
func (d *Device) Controllers() ([]uint16, error) {
	c, err := d.supports()
	if err != nil {
		return nil, err
	}
	if !c.AdminCommands.Has(AdminCommandNamespaceManagement) {
		return nil, unsupported("controller list")
	}
	data, err := d.read(IdentifyCommand(IdentifyControllers, 0), identifyBytes) // from id 0 on
	if err != nil {
		return nil, err
	}
	return DecodeControllerList(data)
}

// mostLists bounds the commands for the ids of all namespaces. A controller may claim four billion of them.
const mostLists = 64

// namespaceList reads all pages of a list of namespace ids. limit is what the controller says is the highest id: a Linux
// target over a network has higher ones, and a controller without any may refuse to list what follows.
func (d *Device) namespaceList(s IdentifyStructure, limit uint32) ([]uint32, error) {
	var ids []uint32
	var after uint32
	for range mostLists {
		data, err := d.read(IdentifyCommand(s, after), identifyBytes)
		if len(ids) > 0 && after >= limit && errors.As(err, new(*StatusError)) {
			return ids, nil
		}
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
		if after = part[len(part)-1]; after >= AllNamespaces-1 {
			return ids, nil // nothing follows the highest id that there may be
		}
	}
	return nil, fmt.Errorf("%v: %d namespaces are listed, and the list goes on", IdentifyCommand(s, 0), len(ids))
}

// Namespace returns the size and format of a namespace. The error matches
// [fs.ErrNotExist] when the namespace does not exist or is not active. Ask for an id that
// [Device.Namespaces] or the kernel names: a controller refuses one that it does not have.
func (d *Device) Namespace(id uint32) (Namespace, error) {
	if err := ofOneNamespace(id); err != nil {
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

// NamespaceIdentifiers returns the permanent identifiers of a namespace: the Namespace
// Identification Descriptor list, CNS 03h, which was added in revision 1.3.
func (d *Device) NamespaceIdentifiers(id uint32) (NamespaceIdentifiers, error) {
	if err := ofOneNamespace(id); err != nil {
		return NamespaceIdentifiers{}, err
	}
	c, err := d.supports()
	if err != nil {
		return NamespaceIdentifiers{}, err
	}
	if !c.Version.AtLeast(1, 3) {
		return NamespaceIdentifiers{}, unsupported("namespace identification descriptors")
	}
	data, err := d.read(IdentifyCommand(IdentifyNamespaceIdentifiers, id), identifyBytes)
	if err != nil {
		return NamespaceIdentifiers{}, err
	}
	return DecodeNamespaceIdentifiers(data)
}

// ofOneNamespace returns an error for ids that no namespace has. The controller's limit is not asked: Linux lets the
// administrator of a target give a namespace an id above it (nvmet_ns_make).
func ofOneNamespace(id uint32) error {
	if id == 0 || id == AllNamespaces {
		return fmt.Errorf("identify namespace %d: want the id of one namespace: %w", id, fs.ErrNotExist)
	}
	return nil
}
