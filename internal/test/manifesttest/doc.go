// Package manifesttest tests what ssdprobe is shipped with: the manifests and the chart
// in deploy/kubernetes and deploy/helm, the units in deploy/systemd, the packages in
// deploy/packages and the container file in deploy/container.
//
// It holds only tests. They use the real tools, each in the version that
// scripts/build-tool.sh pins: kustomize and helm render, the types of the Kubernetes
// API decode, systemd-analyze reads the units, dpkg and rpm unpack the packages, and
// runc runs the container as the DaemonSet describes it.
package manifesttest
