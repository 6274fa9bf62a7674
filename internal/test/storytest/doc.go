// Package storytest tests the main use of ssdprobe end to end, with everything real: two drives in a machine of package
// lab, the program as it is shipped, a Prometheus with the rules and alerts of deploy/prometheus, an Alertmanager, and a
// webhook that the test serves. A drive becomes slower, and the alert for it, and for no other, arrives. When the drive
// is fast again, the alert is resolved. Then a drive becomes slower because the conditions of the machine change: that is
// a new epoch, and no alert. Meanwhile a browser opens the status page, and the queries of the dashboards are evaluated.
// Those without an answer in the story are evaluated on a second machine, with more drives, trouble and full runs.
//
// It holds only the test. To make an hour take two minutes, it changes the following:
//
//   - The clock of the machine is set forward by half a minute each second. The settings for drift are the defaults,
//     except for the number of rounds in a baseline. Rounds come each second, which is two in a minute by that clock.
//   - In a copy of alerts.yaml, the values of for and keep_firing_for are divided by 60 in the alerts about drives.
//     Expressions, and so their windows, are unchanged.
//   - Prometheus scrapes every two seconds and evaluates every second, and Alertmanager does not wait.
//
// With the build tag kubernetes there are three more tests (make test-story). TestStoryOfANode and TestStoryOfAHost are
// as quick, and go up to the condition, event and taint of a node on a real API server. TestStoryInRealTime changes none
// of the above.
//
// With the build tag picture, TestPicture makes docs/status-page.png: a node with drives of 960 GB, one of which gets slow (make picture).
//
// It does not skip tests: without the lab (scripts/lab-setup.sh) or one of the programs it fails and says what is
// missing.
package storytest
