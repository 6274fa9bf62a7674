package config

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWholeNumbers(t *testing.T) {
	for _, limits := range [][2]int64{{0, 0}, {0, 9}, {1, 64}, {8, 130}, {10, 10}, {99, 101}, {30, 1000}, {123, 987}, {512, 1024}} {
		low, high := limits[0], limits[1]
		bounded := regexp.MustCompile("^" + wholeNumbers(low, high) + "$")
		open := regexp.MustCompile("^" + wholeNumbersFrom(low) + "$")
		for n := range int64(1100) {
			for _, text := range []string{strconv.FormatInt(n, 10), fmt.Sprintf("%06d", n)} {
				require.Equal(t, low <= n && n <= high, bounded.MatchString(text), "%s in %d to %d: %s", text, low, high, bounded)
				require.Equal(t, low <= n, open.MatchString(text), "%s from %d: %s", text, low, open)
			}
		}
		require.True(t, open.MatchString("123456789"))
		require.False(t, bounded.MatchString("123456789"))
	}
}
