package analysis

// groups are values by a key, in the order in which the keys came first.
type groups[K comparable, V any] struct {
	keys []K
	of   map[K]*V
}

// at returns the value of a key, the zero value when it is new.
func (g *groups[K, V]) at(key K) *V {
	if g.of == nil {
		g.of = map[K]*V{}
	}
	if g.of[key] == nil {
		g.of[key] = new(V)
		g.keys = append(g.keys, key)
	}
	return g.of[key]
}
