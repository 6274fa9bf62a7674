package config

// nearest returns the key that a misspelt word most likely stands for; not ok
// when none is near: more than a third of the letters would have to change.
func nearest(word string, keys []string) (string, bool) {
	best, least := "", len(word)/3+1
	for _, key := range keys {
		if d := distance(word, key, least); d < least {
			best, least = key, d
		}
	}
	return best, best != ""
}

// distance is the Levenshtein distance of two words in bytes: how many have to
// be put in, taken out or changed. Words whose lengths differ by limit or more
// are limit apart.
func distance(a, b string, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
