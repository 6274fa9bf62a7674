// Package clustertest runs the real DaemonSet on the two nodes that
// scripts/kubernetes-node.sh starts (API server, kubelet, containerd, runc), with the
// image of the container file and the commands of docs/install-kubernetes.md.
//
//	make test-kubernetes
//
// It holds only tests, with the build tag kubernetes. To work on one of them:
//
//	scripts/kubernetes-node.sh up
//	go test -count 1 -tags kubernetes -run TestFiles ./internal/test/clustertest
//	scripts/kubernetes-node.sh down
//
// Two things differ from a real cluster: the image is imported instead of pulled, and
// the network plugin enforces no NetworkPolicy.
package clustertest
