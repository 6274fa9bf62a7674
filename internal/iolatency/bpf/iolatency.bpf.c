// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counts the latency of each I/O of the watched devices in histograms.
 *
 * Request-based devices (NVMe, SCSI, virtio, loop): a request is inserted into a queue, where a
 * scheduler may hold it, then issued to the driver, then completed. Direct issue skips the first.
 * Bio-based devices (dm, md, zram, heads of NVMe multipath) have no requests: a bio is queued to
 * them, and completed.
 *
 * User space reads and writes the maps through memory, for which it needs no rights.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char __license[] SEC("license") = "Dual BSD/GPL"; /* the kernel runs tracing programs of GPL-compatible licences alone */

/* The sizes below are known to Go, too: layout.go. */
#define DEVICES 64 /* that can be watched at once */
#define OPERATIONS 4
#define STAGES 2
#define BUCKETS 232 /* eight for each power of two, from 2^-20 s (1 us) to 2^9 s */
#define STRIPES 16 /* at most */
#define TABLE 256 /* places to look for a device */
#define WAYS 8 /* places to look for an I/O in flight */
#define SETS 4096
#define MERGED 128 /* bios of a request that are looked at */

enum operation { READ, WRITE, DISCARD, FLUSH, NONE };
enum stage { QUEUE, DEVICE };

/* A device under watch. User space writes it: number last. */
struct watched {
	__u32 number; /* major << 20 | minor; 0 ends the search */
	__u32 slot;   /* of its histograms, plus 1; 0 when it is not watched any more */
	__u32 paused; /* what begins now is not counted */
	__u32 unused;
	__u64 slow_ns; /* I/Os that take as long are told of; 0 for none */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TABLE);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct watched);
} devices SEC(".maps");

struct histogram {
	__u64 sum_ns;
	__u32 buckets[BUCKETS]; /* they wrap; user space reads them long before */
};

/*
 * Each slot has a stripe for each CPU, a power of two of them. CPUs share them when there are more:
 * memory for hundreds of CPUs would cost more than the counters of a stripe that two CPUs touch.
 */
const volatile __u32 stripes = STRIPES;

struct histograms {
	struct histogram of[OPERATIONS][STAGES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DEVICES * STRIPES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct histograms);
} counts SEC(".maps");

/* What user space sets once, and what is told to it. */
struct control {
	__u32 self;    /* the process whose I/O is not counted, as the kernel numbers it */
	__u32 bios;    /* devices under watch that have no requests */
	__u64 evicted; /* I/Os in flight that were forgotten for want of room */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct control);
} controls SEC(".maps");

/* An I/O in flight. */
struct flight {
	__u64 began_ns; /* when it was seen first: inserted, or issued at once */
	__u64 issued_ns; /* first; 0 while it is queued */
	__u32 number; /* of its device */
	__u32 bytes;
	__u8 operation;
	__u8 ours;
	__u8 inserted; /* it was queued */
	__u8 requeued; /* the driver gave it back, and it is not issued again yet */
	__u32 unused;
};

/*
 * An array with places found by the hash of the key costs half of what a hash map does, and forgets
 * by itself an I/O whose end was not seen.
 */
struct set {
	__u64 keys[WAYS]; /* of a request or bio; 0 when the place is free */
	struct flight flights[WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SETS);
	__type(key, __u32);
	__type(value, struct set);
} flights SEC(".maps");

static __always_inline struct control *control(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&controls, &zero);
}

/*
 * key_of makes a number of an address. The verifier allows no arithmetic with a pointer, but for the
 * difference of two, which is a number.
 */
static __always_inline __u64 key_of(void *of, struct control *c)
{
	__u64 key = (__u64)of;

	asm volatile("%0 -= %1" : "+r"(key) : "r"(c));
	return key;
}

static __always_inline struct set *set_of(__u64 key)
{
	__u32 i = (key * 0x9E3779B97F4A7C15ull) >> 40 & (SETS - 1);

	return bpf_map_lookup_elem(&flights, &i);
}

/* flight_at hides from the compiler that the way is in the set, as the verifier wants to see it. */
static __always_inline struct flight *flight_at(struct set *set, __u32 way)
{
	asm volatile("" : "+r"(way));
	return &set->flights[way & (WAYS - 1)];
}

/* find returns the way of an I/O in its set; WAYS when it is not there. */
static __always_inline __u32 find(struct set *set, __u64 key)
{
#pragma unroll
	for (__u32 i = 0; i < WAYS; i++)
		if (set->keys[i] == key)
			return i;
	return WAYS;
}

/* take returns a way for an I/O: a free one, or that of the oldest; WAYS when another took that. */
static __always_inline __u32 take(struct set *set, __u64 key, struct control *c)
{
	__u64 before, began = ~0ull;
	__u32 oldest = 0;

#pragma unroll
	for (__u32 i = 0; i < WAYS; i++)
		if (!set->keys[i] && !__sync_val_compare_and_swap(&set->keys[i], 0, key))
			return i;
#pragma unroll
	for (__u32 i = 0; i < WAYS; i++)
		if (set->flights[i].began_ns < began) {
			began = set->flights[i].began_ns;
			oldest = i;
		}
	asm volatile("" : "+r"(oldest));
	oldest &= WAYS - 1;
	before = set->keys[oldest];
	__sync_fetch_and_add(&c->evicted, 1);
	return __sync_val_compare_and_swap(&set->keys[oldest], before, key) == before ? oldest : WAYS;
}

static __always_inline struct watched *watch_of(__u32 number)
{
	__u32 hash = (number * 0x9E3779B1u) >> 24;

#pragma unroll
	for (int i = 0; i < 8; i++) {
		__u32 at = (hash + i) & (TABLE - 1);
		struct watched *w = bpf_map_lookup_elem(&devices, &at);

		if (!w || !w->number)
			return 0;
		if (w->number == number)
			return w->slot ? w : 0;
	}
	return 0;
}

static __always_inline __u32 number_of(struct gendisk *disk)
{
	return (__u32)disk->major << 20 | (__u32)disk->first_minor;
}

/* operation_of does as the kernel's counters do; passthrough (SMART, for one) is nobody's traffic. */
static __always_inline enum operation operation_of(__u32 flags)
{
	__u32 op = flags & 0xff;

	if (op >= 32)
		return NONE;
	if (op == 2)
		return FLUSH;
	if (op == 3)
		return DISCARD;
	return op & 1 ? WRITE : READ;
}

/* bucket_of is exact: bucket i is that of Prometheus' native histograms with schema 3, from 2^-20 s on. */
static __always_inline __u32 bucket_of(__u64 ns)
{
	__u64 v;
	__u32 log, mantissa, i;

	if (ns >= 1ull << 39)
		return BUCKETS - 1;
	v = ns * 1125900; /* in 2^-50 s: 2^50 / 10^9 is 1125899.907 */
	if (v <= 1ull << 30)
		return 0;
	/* the position of the highest bit, of 31 to 59 */
	log = 0;
	__u64 x = v >> 30;
	if (x >> 16) { log += 16; x >>= 16; }
	if (x >> 8) { log += 8; x >>= 8; }
	if (x >> 4) { log += 4; x >>= 4; }
	if (x >> 2) { log += 2; x >>= 2; }
	if (x >> 1) { log += 1; }
	mantissa = v >> (log & 31) & 0x3fffffff; /* the 30 bits below the highest */
	i = 0;
	/* 2^30 * (2^(n/8) - 1) */
	i += mantissa > 97181937;
	i += mantissa > 203159592;
	i += mantissa > 318729044;
	i += mantissa > 444758425;
	i += mantissa > 582194440;
	i += mantissa > 732069477;
	i += mantissa > 895509363;
	i += log * 8;
	return i < BUCKETS ? i : BUCKETS - 1;
}

static __always_inline void count(struct watched *w, __u8 operation, enum stage stage, __u64 ns)
{
	__u32 at = (w->slot - 1) * stripes + (bpf_get_smp_processor_id() & (stripes - 1));
	struct histograms *all = bpf_map_lookup_elem(&counts, &at);
	struct histogram *h;
	__u32 bucket = bucket_of(ns);

	if (!all || operation >= OPERATIONS || bucket >= BUCKETS)
		return;
	h = &all->of[operation][stage];
	/* atomic, as an interrupt may count in the same place, and as CPUs may share a stripe */
	__sync_fetch_and_add(&h->buckets[bucket], 1);
	__sync_fetch_and_add(&h->sum_ns, ns);
}

/*
 * begin notes an I/O that is seen for the first time. It runs where the I/O was submitted. The way is
 * that of one whose end was not seen at the same address, or WAYS.
 */
static __always_inline struct flight *begin(struct set *set, __u32 way, __u64 key, struct control *c, __u32 number, enum operation op, __u32 bytes)
{
	struct watched *w = watch_of(number);
	struct flight *f;

	if (!w)
		return 0;
	if (way == WAYS)
		way = take(set, key, c);
	if (way == WAYS)
		return 0;
	f = flight_at(set, way);
	f->began_ns = bpf_ktime_get_ns();
	f->issued_ns = 0;
	f->number = number;
	f->bytes = bytes;
	f->operation = op;
	f->ours = w->paused || bpf_get_current_pid_tgid() >> 32 == c->self;
	f->inserted = 0;
	f->requeued = 0;
	return f;
}

/* end counts an I/O that is in flight, and forgets it. Not static, so that it is verified once. */
__attribute__((noinline)) int end(__u64 key)
{
	__u64 now = bpf_ktime_get_ns();
	struct set *set = set_of(key);
	struct flight done;
	struct watched *w;
	__u32 way;

	if (!set)
		return 0;
	way = find(set, key);
	if (way == WAYS)
		return 0;
	done = *flight_at(set, way);
	asm volatile("" : "+r"(way));
	if (__sync_val_compare_and_swap(&set->keys[way & (WAYS - 1)], key, 0) != key)
		return 0;
	if (done.ours || !done.issued_ns)
		return 0;
	w = watch_of(done.number);
	if (!w || w->paused)
		return 0;
	count(w, done.operation, DEVICE, now - done.issued_ns);
	if (done.inserted)
		count(w, done.operation, QUEUE, done.issued_ns - done.began_ns);
	return 0;
}

static __always_inline struct flight *begin_request(struct set *set, __u32 way, __u64 key, struct control *c, struct request *rq)
{
	struct gendisk *disk = rq->q->disk;
	enum operation op = operation_of(rq->cmd_flags);

	if (!disk || op == NONE)
		return 0;
	return begin(set, way, key, c, number_of(disk), op, rq->__data_len);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(rq_insert, struct request *rq)
{
	struct control *c = control();
	struct flight *f;
	struct set *set;
	__u64 key;
	__u32 way;

	if (!c)
		return 0;
	key = key_of(rq, c);
	set = set_of(key);
	if (!set)
		return 0;
	way = find(set, key);
	if (way < WAYS) {
		f = flight_at(set, way);
		if (f->requeued || !f->issued_ns)
			return 0;
	}
	f = begin_request(set, way, key, c, rq);
	if (f)
		f->inserted = 1;
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(rq_issue, struct request *rq)
{
	struct control *c = control();
	struct flight *f;
	struct set *set;
	__u64 key;
	__u32 way;

	if (!c)
		return 0;
	key = key_of(rq, c);
	set = set_of(key);
	if (!set)
		return 0;
	way = find(set, key);
	if (way < WAYS) {
		f = flight_at(set, way);
		if (!f->issued_ns || f->requeued) {
			f->requeued = 0;
			f->bytes = rq->__data_len; /* others were merged into it */
			if (!f->issued_ns)
				f->issued_ns = bpf_ktime_get_ns();
			return 0;
		}
	}
	f = begin_request(set, way, key, c, rq);
	if (f)
		f->issued_ns = f->began_ns;
	return 0;
}

/* A request that the driver gives back is served by the device from the first time that it was issued. */
SEC("tp_btf/block_rq_requeue")
int BPF_PROG(rq_requeue, struct request *rq)
{
	struct control *c = control();
	struct set *set;
	__u64 key;
	__u32 way;

	if (!c)
		return 0;
	key = key_of(rq, c);
	set = set_of(key);
	if (!set)
		return 0;
	way = find(set, key);
	if (way < WAYS)
		flight_at(set, way)->requeued = 1;
	return 0;
}

/* A request that is merged into another ends with that. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(rq_merge, struct request *rq)
{
	struct control *c = control();
	struct set *set;
	__u64 key;

	if (!c)
		return 0;
	key = key_of(rq, c);
	set = set_of(key);
	if (!set)
		return 0;
#pragma unroll
	for (__u32 i = 0; i < WAYS; i++)
		if (set->keys[i] == key)
			__sync_val_compare_and_swap(&set->keys[i], key, 0);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(rq_complete, struct request *rq, int error, unsigned int bytes)
{
	struct control *c = control();
	struct bio *bio;

	if (!c || bytes < rq->__data_len) /* a part of it */
		return 0;
	end(key_of(rq, c));
	if (!c->bios)
		return 0;
	/*
	 * A bio that a device without requests passed on as it was (the head of NVMe
	 * multipath, md linear) ends with the request that carries it.
	 */
	bio = rq->bio;
	for (int i = 0; i < MERGED && bio; i++) {
		end(key_of(bio, c));
		bio = bio->bi_next;
	}
	return 0;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(bio_queue, struct bio *bio)
{
	struct control *c = control();
	struct gendisk *disk;
	struct flight *f;
	struct set *set;
	enum operation op;
	__u64 key;

	if (!c || !c->bios)
		return 0;
	disk = bio->bi_bdev->bd_disk;
	if (!disk->fops->submit_bio)
		return 0;
	op = operation_of(bio->bi_opf);
	if (op == NONE)
		return 0;
	if (op == WRITE && !bio->bi_iter.bi_size)
		op = FLUSH;
	key = key_of(bio, c);
	set = set_of(key);
	if (!set)
		return 0;
	f = begin(set, find(set, key), key, c, number_of(disk), op, bio->bi_iter.bi_size);
	if (f)
		f->issued_ns = f->began_ns;
	return 0;
}

SEC("tp_btf/block_bio_complete")
int BPF_PROG(bio_complete, struct request_queue *q, struct bio *bio)
{
	struct control *c = control();

	if (c && c->bios)
		end(key_of(bio, c));
	return 0;
}

/* Run once by user space, which may not know its own number: it has another in a container. */
SEC("raw_tp")
int self(void *unused)
{
	struct control *c = control();

	if (c)
		c->self = bpf_get_current_pid_tgid() >> 32;
	return 0;
}
