package nvme

import "fmt"

// namespacesPerList is the capacity of a list.
const namespacesPerList = identifyBytes / 4

// DecodeNamespaceList decodes the 4096 bytes of a Namespace List (Figure 139): at most 1024 ids in
// ascending order, all above after, up to the first 0.
func DecodeNamespaceList(b []byte, after uint32) ([]uint32, error) {
	p, err := pageOf("namespace list", b, identifyBytes)
	if err != nil {
		return nil, err
	}
	ids := make([]uint32, 0, 8)
	for i := range namespacesPerList {
		id := p.u32(4 * i)
		if id == 0 {
			break
		}
		if id <= after {
			return nil, fmt.Errorf("decode namespace list: id %d follows %d", id, after)
		}
		ids = append(ids, id)
		after = id
	}
	return ids, nil
}
