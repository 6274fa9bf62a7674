package config

// nearest returns the key that a misspelt word most likely stands for. It returns an empty string when more than a
// third of the letters would have to change.
func nearest(word string, keys []string) string {
	best, least := "", len(word)/3+1
	for _, key := range keys {
		if len(word)-len(key) >= least { // skip early, because a file may have a very long key
			continue
		}
		if d := distance(word, key); d < least {
			best, least = key, d
		}
	}
	return best
}

// distance returns the Levenshtein distance of two words in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
