package nvme

// DecodeUUIDs decodes the 4096 bytes of the UUID List, CNS 17h (Figure 321): the organisations
// whose vendor specific log pages and features the controller has, by their index in the list.
// Index 0 is never used.
func DecodeUUIDs(b []byte) (map[uint8]UUID, error) {
	p, err := pageOf("uuid list", b, identifyBytes)
	if err != nil {
		return nil, err
	}
	const entryBytes = 32
	uuids := map[uint8]UUID{}
	for index := uint8(1); index < identifyBytes/entryBytes; index++ {
		uuid := UUID(p[int(index)*entryBytes+16:][:16])
		if uuid == (UUID{}) {
			break
		}
		uuids[index] = uuid
	}
	return uuids, nil
}
