package drift

import "slices"

// otherSize is how many times larger or smaller than any that was seen I/Os have to be to be of
// another kind: what takes a drive longer is then the size.
const otherSize = 1.5

// size is the mean size of the reads (0) or writes (1) of others in bytes; 0 when there were none, for flushes,
// and when it is not known.
func (w work) size(i int) int {
	if !w.Known || i > 1 || w.Rates[i] == 0 {
		return 0
	}
	return int(w.Rates[2+i]) * 1024 / int(w.Rates[i])
}

// learnSizes learns which sizes of I/Os were seen, without the rarest.
func (n *norm) learnSizes(blocks []block, i int) {
	var sizes []int
	for _, b := range blocks {
		if size := b.Work.size(i); size > 0 {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		return
	}
	slices.Sort(sizes)
	n.LeastSize, n.MostSize = sizes[len(sizes)*2/100], sizes[(len(sizes)-1)*98/100]
}

// likeSize reports whether the I/Os of a block have a size that was seen.
func (n *norm) likeSize(w work, i int) bool {
	size := w.size(i)
	return size == 0 || n.MostSize == 0 || float64(size) <= otherSize*float64(n.MostSize) && otherSize*float64(size) >= float64(n.LeastSize)
}
