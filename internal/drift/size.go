package drift

import "slices"

// otherSize is how many times larger or smaller than any that was seen I/Os have to be to be of
// another kind: what takes a drive longer is then the size.
const otherSize = 1.5

// otherRate is how many times more of them are other work.
const otherRate = 2

// size is the mean size of the reads (0) or writes (1) of others in bytes; 0 when there were none, for flushes,
// and when it is not known.
func (w work) size(i int) int {
	if !w.Known || i > 1 || w.Rates[i] == 0 {
		return 0
	}
	return int(w.Rates[2+i]) * 1024 / int(w.Rates[i])
}

// learnSizes learns which sizes of I/Os were seen, and how many, without the rarest.
func (n *norm) learnSizes(blocks []block, i int) {
	var sizes, rates []int
	for _, b := range blocks {
		if size := b.Work.size(i); size > 0 {
			sizes, rates = append(sizes, size), append(rates, int(b.Work.Rates[i]))
		}
	}
	if len(sizes) == 0 {
		return
	}
	slices.Sort(sizes)
	slices.Sort(rates)
	n.LeastSize, n.MostSize = sizes[len(sizes)*2/100], sizes[(len(sizes)-1)*98/100]
	n.MostRate = rates[(len(rates)-1)*98/100]
}

// likeWork reports whether the I/Os of a block are of a size that was seen, and not far more. Fewer are no
// other work: a slower device gets less.
func (n *norm) likeWork(w work, i int) bool {
	size := w.size(i)
	if size == 0 || n.MostSize == 0 {
		return true
	}
	return float64(size) <= otherSize*float64(n.MostSize) && otherSize*float64(size) >= float64(n.LeastSize) && int(w.Rates[i]) <= otherRate*n.MostRate
}
