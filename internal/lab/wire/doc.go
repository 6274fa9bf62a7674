// Package wire is what the laboratory and its agent in the guest say to each other: JSON messages, each behind its
// length in four bytes, over a virtio serial port. A request carries an ID and exactly one verb; its reply carries
// the same ID, and replies come in the order in which the work ends. The agent speaks first: a Reply with Hello.
package wire
