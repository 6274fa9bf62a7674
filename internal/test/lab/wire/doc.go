// Package wire is what the laboratory and its agent in the guest say to each other: JSON messages, each behind its
// length in four bytes, over a virtio serial port. Both ends greet first, because the line outlives the machine: it may
// carry the rest of what was said before a reset. Then the agent sends a Reply with Hello. After that, a request carries
// an ID and exactly one verb; its reply carries the same ID, and replies come in the order in which the work ends.
package wire
