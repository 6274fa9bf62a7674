// Package wire is the protocol between the lab and its agent in the guest: JSON messages, each preceded by its length in
// four bytes, over a virtio serial port. Both ends first send a greeting, because the line outlives the machine: it may
// still carry data from before a reset. Then the agent sends a Reply with Hello. After that, a request carries an ID and
// exactly one verb; its reply carries the same ID, and replies arrive in the order in which the work ends.
package wire
