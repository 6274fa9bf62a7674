// Package storytest tells the story that ssdprobe is for, from end to end, with everything real: two drives in a
// machine of package lab, the program as it is shipped, a Prometheus with the rules and alerts of deploy/prometheus, an
// Alertmanager, and a webhook that the test serves. A drive becomes slower and the alert for it, and for no other,
// arrives; it is as fast again and the alert is resolved. Once more with other conditions of the machine instead: then
// it is a new epoch, and no alert. Meanwhile a browser looks at the status page, and the queries of the dashboards
// are asked. Those that have no answer in the story are asked of a second machine, with more drives, trouble and full runs.
//
// It holds nothing but the test. What it changes so that an hour takes two minutes:
//
//   - The clock of the machine is set forward by half a minute each second. The settings for drift are the default ones, but for
//     the number of rounds that make a baseline; rounds come each second, so two in a minute by that clock.
//   - In a copy of alerts.yaml, what stands at for and keep_firing_for is divided by 60 in the alerts about drives.
//     Expressions, and with them windows, are what they are.
//   - Prometheus scrapes every two seconds and evaluates every second, and Alertmanager waits for nothing.
//
// With the build tag kubernetes there are three more: TestStoryOfANode and TestStoryOfAHost, as quick, up to the condition, event
// and taint of a node on a real API server, and TestStoryInRealTime, which changes none of this (make test-story).
//
// With the build tag picture, TestPicture makes docs/status-page.png: a node with drives of 960 GB, one of which gets slow (make picture).
//
// It refuses to skip: without the laboratory (scripts/lab-setup.sh) or one of the programs it fails and says what is missing.
package storytest
