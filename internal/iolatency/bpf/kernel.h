/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs use of the kernel's types, and no more: the loader finds where each field is in
 * the running kernel (CO-RE), so the order and the sizes here do not matter, but the names do.
 * Enough of the basic types for <bpf/bpf_helpers.h> comes first.
 */
#ifndef KERNEL_H
#define KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum {
	false = 0,
	true = 1,
};

enum {
	BPF_ANY = 0,
};

enum bpf_map_type {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_F_MMAPABLE = 1U << 10,
};

enum {
	BPF_RB_NO_WAKEUP = 1U << 0,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct block_device_operations {
	void *submit_bio;
};

struct gendisk {
	int major;
	int first_minor;
	const struct block_device_operations *fops;
};

struct block_device {
	struct gendisk *bd_disk;
};

struct request_queue {
	struct gendisk *disk; /* since Linux 5.15 */
};

typedef __u64 sector_t;

struct bvec_iter {
	sector_t bi_sector;
	unsigned int bi_size;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev; /* since Linux 5.12 */
	unsigned int bi_opf;
	struct bvec_iter bi_iter;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	sector_t __sector;
	struct bio *bio;
};

#pragma clang attribute pop

#endif
