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

// users keeps secret which names the web config file has. The toolkit compares the password
// of a name that is not there with a hash of its own, of cost 10: with hashes of cost 12,
// as many guides have them, a wrong name is answered five times as fast as a wrong
// password.
type users struct {
	file string
	key  []byte // of this process
}

func newUsers(file string) users { return users{file, []byte(rand.Text())} }

// disguise returns the request with a wrong name changed to a right one and a wrong
// password, so that the toolkit does for it what it does for a wrong password. The same
// name and password become the same ones again, since the toolkit remembers answers.
func (u users) disguise(r *http.Request) *http.Request {
	name, password, ok := r.BasicAuth()
	if !ok {
		return r
	}
	known := u.names()
	if len(known) == 0 || slices.Contains(known, name) {
		return r
	}
	// Hashes may differ in cost, so a wrong name has to have the same one each time.
	at := binary.BigEndian.Uint64(u.mac(name)) % uint64(len(known))
	r = r.Clone(r.Context())
	r.SetBasicAuth(known[at], hex.EncodeToString(u.mac(name, password)))
	return r
}

// names are those of the file as it is now, in order; none when it cannot be read, which
// the toolkit then answers.
func (u users) names() []string {
	var c toolkit.Config
	text, err := os.ReadFile(u.file)
	if err != nil || yaml.Unmarshal(text, &c) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(c.Users))
}

// mac is a number that others can neither foresee nor make.
func (u users) mac(texts ...string) []byte {
	h := hmac.New(sha256.New, u.key)
	for _, text := range texts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	return h.Sum(nil)
}
