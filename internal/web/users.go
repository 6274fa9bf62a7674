package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"net/http"
	"os"
	"slices"

	toolkit "github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v3"
)

// users hides which names the web config file contains. For an unknown name, the toolkit compares the password with a
// hash of its own, of cost 10. Many guides use hashes of cost 12, which take four times as long to compare. The time
// of an answer would then tell a wrong name from a wrong password.
type users struct {
	file string
	key  []byte // random key of this process
}

func newUsers(file string) users { return users{file, []byte(rand.Text())} }

// disguise returns the request with an unknown name replaced by a known name and a wrong password, so that the
// toolkit treats it like a wrong password. Equal names and passwords are replaced by equal ones, because the toolkit
// caches its results.
func (u users) disguise(r *http.Request) *http.Request {
	name, password, ok := r.BasicAuth()
	if !ok {
		return r
	}
	known := u.names()
	if len(known) == 0 || slices.Contains(known, name) {
		return r
	}
	// Hashes may differ in cost, so a wrong name must be replaced by the same name each time.
	at := binary.BigEndian.Uint64(u.mac(name)) % uint64(len(known))
	r = r.Clone(r.Context())
	r.SetBasicAuth(known[at], hex.EncodeToString(u.mac(name, password)))
	return r
}

// names returns the names in the current file, in order. It returns none when the file cannot be read, which the
// toolkit then reports.
func (u users) names() []string {
	var c toolkit.Config
	text, err := os.ReadFile(u.file)
	if err != nil || yaml.Unmarshal(text, &c) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(c.Users))
}

// mac returns a number that others can neither predict nor compute.
func (u users) mac(texts ...string) []byte {
	h := hmac.New(sha256.New, u.key)
	for _, text := range texts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	return h.Sum(nil)
}
