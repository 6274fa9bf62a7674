// Package clustertest runs the DaemonSet for real: on the two nodes that
// scripts/kubernetes-node.sh starts (API server, kubelet, containerd, runc), with the
// image that the container file makes, by the commands of docs/install-kubernetes.md.
//
//	make test-kubernetes
//
// It holds nothing but tests, with the build tag kubernetes. To work on one of them:
//
//	scripts/kubernetes-node.sh up
//	go test -count 1 -tags kubernetes -run TestFiles ./internal/test/clustertest
//	scripts/kubernetes-node.sh down
//
// What is not real: the image is imported instead of pulled, and the network plugin
// enforces no NetworkPolicy.
package clustertest
