package config

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// field is a value of the file, bound to its place in a Config.
type field interface {
	// read sets the value from the node. name is the name of the field, for problems.
	read(n *yaml.Node, name string, f *findings)
	// check reports problems with the current value.
	check(name string, f *findings)
	// write returns the value as a node, or nil when it is to be left out.
	write() *yaml.Node
	// about describes the field.
	about() about
}

// about describes a field for the documents and the schema.
type about struct {
	kind     string  // type of the value, with its unit
	says     string  // what the value has to be, in a few words; may be empty
	required bool    // it has no default
	atStart  bool    // a change needs a restart
	keys     section // the keys of a section, or of the items of a list
	isList   bool
	example  field // shown in the commented file when the list is empty; nil for nothing
	schema   schema
}

// accept records the place of a field, and reports whether the node is of the required kind. Anchors may remain, but
// aliases are rejected: each value must be written where it is used, so that its line is complete.
func (f *findings) accept(n *yaml.Node, name string, kind yaml.Kind, want string) bool {
	f.places[name] = place{n.Line, n.Value}
	p := Problem{Line: n.Line, Field: name, Want: want}
	switch {
	case n.Kind == yaml.AliasNode:
		p.Value, p.Wrong, p.Want = "*"+n.Value, "is an alias", "the value itself: aliases are not supported"
	case n.Style&yaml.TaggedStyle != 0:
		p.Value, p.Wrong, p.Want = n.Tag, "is a tag", "the value without it"
	case n.Kind == kind:
		return true
	default:
		p.Wrong = "is " + map[yaml.Kind]string{
			yaml.ScalarNode: "a single value", yaml.SequenceNode: "a list", yaml.MappingNode: "a section of keys",
		}[n.Kind]
		if name == "" {
			p.Wrong = "the file " + p.Wrong
		}
	}
	f.add(p)
	return false
}

// absent reports whether a key has no value, for example because everything below it is commented out.
func absent(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Style&yaml.TaggedStyle == 0
}

// section is a map of fixed keys, in the order in which they are shown.
type section []entry

type entry struct {
	key   string
	field field
	// help describes the key in the commented file and the schema. Each line is a paragraph. In an item of a list, it
	// is a few words that fit behind the value.
	help string
}

func (s section) keys() []string {
	keys := make([]string, len(s))
	for i, e := range s {
		keys[i] = e.key
	}
	return keys
}

func (s section) read(n *yaml.Node, name string, f *findings) {
	keys := strings.Join(s.keys(), ", ")
	if absent(n) || !f.accept(n, name, yaml.MappingNode, "keys with their values: "+keys) {
		return
	}
	first := map[string]int{}
	for pair := range slices.Chunk(n.Content, 2) {
		key, value := pair[0], pair[1]
		if key.Kind != yaml.ScalarNode {
			f.add(Problem{Line: key.Line, Field: name, Wrong: "a key is not a word", Want: "one of " + keys})
			continue
		}
		known := slices.IndexFunc(s, func(e entry) bool { return e.key == key.Value })
		p := Problem{Line: key.Line, Field: join(name, key.Value)}
		switch line, again := first[key.Value]; {
		case again:
			p.Wrong, p.Want = "is given again", "it once: the first is in line "+strconv.Itoa(line)
			f.list(p)
		case known < 0:
			p.Wrong, p.Want = "is not a key here", "one of "+keys
			if near := nearest(key.Value, s.keys()); near != "" {
				p.Wrong += " (did you mean " + near + "?)"
			}
			f.add(p)
		default:
			s[known].field.read(value, p.Field, f)
		}
		if first[key.Value] == 0 {
			first[key.Value] = key.Line
		}
	}
}

func (s section) check(name string, f *findings) {
	for _, e := range s {
		e.field.check(join(name, e.key), f)
	}
}

func (s section) write() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, e := range s {
		if value := e.field.write(); value != nil {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: e.key}, value)
		}
	}
	return n
}

func (s section) about() about {
	all := schema{Type: types{"object", "null"}, Properties: map[string]schema{}, OtherKeys: new(false)}
	for _, e := range s {
		of := e.field.about()
		of.schema.Description = Key{Help: e.help, Valid: of.says}.Description()
		all.Properties[e.key] = of.schema
		if of.required {
			all.Required = append(all.Required, e.key)
		}
	}
	return about{kind: "section", keys: s, schema: all}
}

// filled is a section in which at least a given number of keys must be set.
type filled struct {
	section
	least int
}

func (s filled) about() about {
	a := s.section.about()
	a.schema.LeastKeys = s.least
	return a
}

// list is a list of values of one kind. A list in the file replaces the default completely.
type list[T any] struct {
	dst   *[]T
	fresh func() T       // an item in which nothing is set yet
	form  func(*T) field // the form of one item
	// builtIn returns the default item with a name; nil when the list has none.
	builtIn func(name string) (T, bool)
	// empty is the problem of a list without items; nil when that is allowed.
	empty *Problem
	// example is shown in the commented file when the default is empty.
	example []T
}

func (l list[T]) read(n *yaml.Node, name string, f *findings) {
	if absent(n) || !f.accept(n, name, yaml.SequenceNode, "a list: lines that begin with a dash, or [a, b]") {
		return
	}
	var items []T
	for i, content := range n.Content {
		v := l.fresh()
		if l.builtIn != nil {
			if known, ok := l.builtIn(nameOf(content)); ok {
				v = known
			}
		}
		if absent(content) {
			f.add(Problem{Line: content.Line, Field: item(name, i), Wrong: "is empty", Want: "a value, or no dash"})
		} else {
			l.form(&v).read(content, item(name, i), f)
		}
		items = append(items, v)
	}
	*l.dst = items
}

func (l list[T]) check(name string, f *findings) {
	if len(*l.dst) == 0 && l.empty != nil {
		p := *l.empty
		p.Field = name
		f.need(false, p)
	}
	for i := range *l.dst {
		l.form(&(*l.dst)[i]).check(item(name, i), f)
	}
}

func (l list[T]) write() *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range *l.dst {
		n.Content = append(n.Content, l.form(&(*l.dst)[i]).write())
	}
	return n
}

func (l list[T]) about() about {
	v := l.fresh()
	item := l.form(&v).about()
	item.schema.Type = item.schema.Type[:1] // a dash without a value is rejected
	a := about{kind: "list of " + item.kind + "s", keys: item.keys, isList: true}
	a.schema = schema{Type: types{"array", "null"}, Items: &item.schema}
	if l.empty != nil {
		a.schema.MinItems = 1
	}
	if len(l.example) > 0 {
		a.example = list[T]{dst: &l.example, fresh: l.fresh, form: l.form}
	}
	return a
}
