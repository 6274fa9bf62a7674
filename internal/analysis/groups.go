package analysis

// groups holds values by key, in the order in which the keys first appeared.
type groups[K comparable, V any] struct {
	keys []K
	of   map[K]*V
}

// at returns the value of a key, and adds a zero value for a new key.
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

// add appends a value to the list of a key.
func add[K comparable, V any](g *groups[K, []V], key K, value V) {
	list := g.at(key)
	*list = append(*list, value)
}
