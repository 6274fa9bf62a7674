// Holds a file without a descriptor of it: "holder map FILE" by a shared mapping, "holder uring FILE" by an io_uring with
// which it is registered, "holder thread FILE" by a descriptor that one thread alone has. Ends with its standard input.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void check(int good, const char *what) {
	if (!good) {
		perror(what);
		exit(1);
	}
}

static int opened(const char *path) {
	int fd = open(path, O_RDWR);
	check(fd >= 0, path);
	return fd;
}

static void hold(void) {
	char c;
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0) {
	}
	exit(0);
}

static void *alone(void *path) {
	check(unshare(CLONE_FILES) == 0, "unshare");
	opened(path);
	hold();
	return NULL;
}

int main(int argc, char **argv) {
	check(argc == 3, "usage: holder map|uring|thread FILE");
	if (!strcmp(argv[1], "thread")) {
		pthread_t thread;
		check(pthread_create(&thread, NULL, alone, argv[2]) == 0, "pthread_create");
		pthread_exit(NULL); // the first thread is a zombie from now on
	}
	int fd = opened(argv[2]);
	if (!strcmp(argv[1], "map")) {
		check(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED, "mmap"); // mprotect may let it write
	} else {
		struct io_uring_params params = {0};
		int ring = syscall(__NR_io_uring_setup, 4, &params);
		check(ring >= 0, "io_uring_setup");
		check(syscall(__NR_io_uring_register, ring, IORING_REGISTER_FILES, &fd, 1) == 0, "io_uring_register");
	}
	close(fd);
	hold();
}
