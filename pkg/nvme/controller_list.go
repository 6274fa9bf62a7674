package nvme

import "fmt"

// controllersPerList is the capacity of a list, which begins with the number of its ids.
const controllersPerList = identifyBytes/2 - 1

// DecodeControllerList decodes the 4096 bytes of a Controller List (Figure 138): at most 2047
// controller ids in ascending order.
func DecodeControllerList(b []byte) ([]uint16, error) {
	p, err := pageOf("controller list", b, identifyBytes)
	if err != nil {
		return nil, err
	}
	number := int(p.u16(0))
	if number > controllersPerList {
		return nil, fmt.Errorf("decode controller list: %d ids, and there is room for %d", number, controllersPerList)
	}
	ids := make([]uint16, number)
	for i := range ids {
		ids[i] = p.u16(2 + 2*i)
		if i > 0 && ids[i] <= ids[i-1] {
			return nil, fmt.Errorf("decode controller list: id %d follows %d", ids[i], ids[i-1])
		}
	}
	return ids, nil
}
