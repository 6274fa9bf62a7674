// Holds a file without a descriptor of it: "holder map FILE" by a shared mapping, "holder uring FILE" by an io_uring with
// which it is registered, "holder thread FILE" by a descriptor that one thread alone has, "holder orphan FILE" by a mapping
// of a process whose first thread has ended. "holder sparse FILE" has an io_uring with room for files and none in it. Ends
// with its standard input.
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

static void map(const char *path) {
	int fd = opened(path);
	check(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED, "mmap"); // mprotect may let it write
	close(fd);
}

static void *orphan(void *first) {
	pthread_join(*(pthread_t *)first, NULL);
	hold();
	return NULL;
}

static pthread_t first;

int main(int argc, char **argv) {
	check(argc == 3, "usage: holder map|orphan|uring|sparse|thread FILE");
	pthread_t thread;
	first = pthread_self();
	if (!strcmp(argv[1], "thread")) {
		check(pthread_create(&thread, NULL, alone, argv[2]) == 0, "pthread_create");
		pthread_exit(NULL); // the first thread is a zombie from now on
	}
	if (!strcmp(argv[1], "orphan")) {
		map(argv[2]);
		check(pthread_create(&thread, NULL, orphan, &first) == 0, "pthread_create");
		pthread_exit(NULL);
	}
	if (!strcmp(argv[1], "map")) {
		map(argv[2]);
		hold();
	}
	int fd = opened(argv[2]);
	int none = -1;
	struct io_uring_params params = {0};
	int ring = syscall(__NR_io_uring_setup, 4, &params);
	check(ring >= 0, "io_uring_setup");
	int *file = strcmp(argv[1], "sparse") ? &fd : &none;
	check(syscall(__NR_io_uring_register, ring, IORING_REGISTER_FILES, file, 1) == 0, "io_uring_register");
	close(fd);
	hold();
}
