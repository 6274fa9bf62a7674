package top

import (
	"strings"
	"unicode/utf8"
)

// Key is a key that was pressed: a character, or one of the constants below.
type Key string

// The keys that are not characters.
const (
	KeyUp        Key = "up"
	KeyDown      Key = "down"
	KeyEnter     Key = "enter"
	KeyEscape    Key = "escape"
	KeyBackspace Key = "backspace"
	KeyInterrupt Key = "ctrl-c"
	KeySuspend   Key = "ctrl-z"
	KeyRedraw    Key = "ctrl-l"
	keyOther     Key = "other" // does nothing
)

const escape = "\x1b"

// keys decodes the keys in what a terminal has sent (ECMA-48, xterm). rest is the incomplete beginning of a
// key. If nothing follows it, it is the key Escape.
func keys(sent string) (pressed []Key, rest string) {
	for sent != "" {
		k, length := first(sent)
		if length == 0 {
			return pressed, sent
		}
		pressed, sent = append(pressed, k), sent[length:]
	}
	return pressed, ""
}

// first returns the first key and its length in bytes, which is 0 if the key is incomplete.
func first(sent string) (Key, int) {
	switch sent[0] {
	case 0x03:
		return KeyInterrupt, 1
	case 0x1a:
		return KeySuspend, 1
	case 0x0c:
		return KeyRedraw, 1
	case '\r', '\n':
		return KeyEnter, 1
	case 0x7f, 0x08:
		return KeyBackspace, 1
	case escape[0]:
		return sequence(sent)
	}
	if !utf8.FullRuneInString(sent) {
		return "", 0
	}
	r, length := utf8.DecodeRuneInString(sent)
	if r == utf8.RuneError || r < ' ' {
		return keyOther, length
	}
	return Key(sent[:length]), length
}

// sequence returns a key that is sent as ESC and further characters.
func sequence(sent string) (Key, int) {
	if len(sent) == 1 {
		return "", 0
	}
	if sent[1] != '[' && sent[1] != 'O' {
		return KeyEscape, 1
	}
	end := strings.IndexFunc(sent[2:], func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return "", 0
	}
	length := 2 + end + 1
	switch sent[length-1] {
	case 'A':
		return KeyUp, length
	case 'B':
		return KeyDown, length
	}
	return keyOther, length
}
