package lab

// rdtsc reads the time stamp counter: Intel SDM volume 2B, RDTSC.
func rdtsc() uint64
