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
#define GROUPS 2048
#define MERGED 128 /* bios of a request that are looked at */

enum operation { READ, WRITE, DISCARD, FLUSH, NONE };
enum stage { QUEUE, DEVICE };

/* A device under watch. User space writes it: number and slot last. */
struct watched {
	__u32 number; /* major << 20 | minor; 0 ends the search */
	__u32 slot;   /* of its histograms, plus 1; 0 when it is not watched any more */
	__u32 paused; /* what begins now is not counted */
	__u32 watch;  /* another one each time that a device comes */
	__u64 slow_ns; /* I/Os that take as long are told of */
	__s32 left;    /* how many of them; user space sets it once a second */
	__u32 unused;
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

/* Why an I/O of a watched device is not counted. */
enum miss {
	NO_ROOM,    /* it was forgotten while it was in flight: its group was full */
	REPLACED,   /* another came to its place while it began */
	NOT_BEGUN,  /* it ended, and nobody had seen it begin */
	NOT_ISSUED, /* it ended, and nobody had seen it issued */
	NOT_ENDED,  /* its request or bio is used again, and nobody had seen it end */
	MISSES
};

/* What user space sets, and what is told to it. */
struct control {
	__u32 self;    /* the process whose I/O is not counted, as the kernel numbers it */
	__u32 bios;    /* devices under watch that have no requests */
	__u32 names;   /* slow I/Os are told with the process and its control group */
	__u32 unused;
	__u64 untold; /* slow I/Os that were not told of for want of room */
	__u64 missed[MISSES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct control);
} controls SEC(".maps");

enum flag {
	OURS = 1,
	INSERTED = 2, /* it was queued */
	REQUEUED = 4, /* the driver gave it back, and it is not issued again yet */
	DETAILED = 8, /* its detail is known */
	NAMED = 16,   /* and who submitted it */
};

/*
 * An I/O in flight. It mostly begins on one CPU and ends on another, and each waits about 50 ns for a line of
 * its cache that the other has written. So all of it is in one line. An I/O that has ended stays where it is: the
 * kernel uses its requests again, so that it is found at once.
 */
struct flight {
	__u64 key; /* of a request or bio */
	__u64 began_ns; /* when it was seen first: inserted, or issued at once; 0 once it has ended */
	__u64 issued_ns; /* first; 0 while it is queued */
	__u32 watch; /* and where it is: of its device */
	__u8 at;
	__u8 operation;
	__u8 flags;
	__u8 unused;
};

/*
 * The hash of a key says where an I/O is at home. When another is in flight there, it is put up in another
 * place of its group. The oldest of a full group is forgotten, as is by and by one whose end was not seen.
 */
struct group {
	struct flight of[WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GROUPS);
	__uint(map_flags, BPF_F_MMAPABLE); /* so that it begins with a page */
	__type(key, __u32);
	__type(value, struct group);
} flights SEC(".maps");

/* How many of each group are not at home. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GROUPS);
	__type(key, __u32);
	__type(value, __u32);
} abroad SEC(".maps");

/* What is told of a slow I/O beyond its times. */
struct detail {
	__u64 sector;
	__u64 cgroup;
	__u32 bytes;
	__u32 process;
	char name[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GROUPS * WAYS);
	__type(key, __u32);
	__type(value, struct detail);
} details SEC(".maps");

/* A slow I/O, as it is told to user space. */
struct slow {
	__u64 ended_ns; /* of the monotonic clock */
	__u64 device_ns, queue_ns;
	struct detail detail;
	__u32 watch;
	__u32 operation;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} slows SEC(".maps");

static __always_inline struct control *control(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&controls, &zero);
}

/* Not static, so that what hardly ever runs is not in the way of what always does. */
__attribute__((noinline)) int miss(enum miss why)
{
	struct control *c = control();

	if (c && why < MISSES)
		__sync_fetch_and_add(&c->missed[why], 1);
	return 0;
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

/* Where an I/O is, or may be. */
struct place {
	struct group *group;
	__u32 number; /* of the group */
	__u32 home;   /* place in it */
	__u32 way;
};

static __always_inline bool place_of(__u64 key, struct place *p)
{
	__u32 hash = key * 0x9E3779B97F4A7C15ull >> 40;

	p->number = hash / WAYS & (GROUPS - 1);
	p->home = p->way = hash & (WAYS - 1);
	p->group = bpf_map_lookup_elem(&flights, &p->number);
	return p->group;
}

/* flight_at hides from the compiler that the way is in the group, as the verifier wants to see it. */
static __always_inline struct flight *flight_at(struct place *p)
{
	__u32 way = p->way;

	asm volatile("" : "+r"(way));
	return &p->group->of[way & (WAYS - 1)];
}

static __always_inline bool in_flight(struct place *p)
{
	return flight_at(p)->began_ns;
}

static __always_inline void count_abroad(struct place *p, __u32 by)
{
	__u32 *n = bpf_map_lookup_elem(&abroad, &p->number);

	if (n)
		__sync_fetch_and_add(n, by);
}

/* find finds the place of an I/O, which may have ended. */
static __always_inline bool find(struct place *p, __u64 key)
{
	__u32 *n;

	if (flight_at(p)->key == key)
		return true;
	n = bpf_map_lookup_elem(&abroad, &p->number);
	if (!n || !*n)
		return false;
	for (__u32 i = 1; i < WAYS; i++) {
		p->way = (p->home + i) & (WAYS - 1);
		if (flight_at(p)->key == key)
			return true;
	}
	p->way = p->home;
	return false;
}

static __always_inline void forget(__u64 key)
{
	struct place p;

	if (place_of(key, &p) && find(&p, key) && in_flight(&p))
		flight_at(&p)->began_ns = 0;
}

/* replace puts an I/O where another is; false when somebody else was faster. */
static __always_inline bool replace(struct place *p, __u64 key)
{
	__u64 before = flight_at(p)->key;
	struct place other;

	if (__sync_val_compare_and_swap(&flight_at(p)->key, before, key) != before)
		return false;
	flight_at(p)->began_ns = 0;
	if (before && place_of(before, &other) && other.home != p->way)
		count_abroad(p, -1);
	if (p->home != p->way)
		count_abroad(p, 1);
	return true;
}

/*
 * put finds the place of an I/O, or else makes one: at home, else where nothing ever was. Only then does it take
 * the place of another that has ended, as somebody may be about to begin there.
 */
static __always_inline bool put(struct place *p, __u64 key)
{
	__u64 began = ~0ull;
	__u32 oldest = 0;

	if (find(p, key))
		return true;
	if (!in_flight(p) && replace(p, key))
		return true;
	for (__u32 i = 1; i < WAYS; i++) {
		p->way = (p->home + i) & (WAYS - 1);
		if (!flight_at(p)->key && replace(p, key))
			return true;
	}
	for (__u32 i = 1; i < WAYS; i++) {
		p->way = (p->home + i) & (WAYS - 1);
		if (!in_flight(p) && replace(p, key))
			return true;
	}
	for (p->way = 0; p->way < WAYS; p->way++)
		if (flight_at(p)->began_ns < began) {
			began = flight_at(p)->began_ns;
			oldest = p->way;
		}
	p->way = oldest;
	miss(NO_ROOM);
	return replace(p, key);
}

static __always_inline struct watched *watch_of(__u32 number, __u8 *place)
{
	__u32 hash = (number * 0x9E3779B1u) >> 24;

#pragma unroll
	for (int i = 0; i < 8; i++) {
		__u32 at = (hash + i) & (TABLE - 1);
		struct watched *w = bpf_map_lookup_elem(&devices, &at);

		if (!w || !w->number)
			return 0;
		if (w->number == number) {
			*place = at;
			return w->slot ? w : 0;
		}
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

static __always_inline void count(__u32 slot, __u8 operation, enum stage stage, __u64 ns)
{
	__u32 at = (slot - 1) * stripes + (bpf_get_smp_processor_id() & (stripes - 1));
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

/* describe notes what is told of an I/O if it is slow, beyond what is known when it ends. */
static __always_inline __u8 describe(struct place *p, struct control *c, __u64 sector, __u32 bytes)
{
	__u32 at = p->number * WAYS + p->way;
	struct detail *d = bpf_map_lookup_elem(&details, &at);

	if (!d)
		return 0;
	d->sector = sector;
	d->bytes = bytes;
	if (!c->names)
		return DETAILED;
	d->process = bpf_get_current_pid_tgid() >> 32;
	d->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(d->name, sizeof(d->name));
	return DETAILED | NAMED;
}

/* begin notes an I/O that is seen for the first time. It runs where the I/O was submitted. */
static __always_inline void begin(struct place *p, __u64 key, struct control *c, struct watched *w, __u8 at, enum operation op, __u8 flags, bool issued)
{
	struct flight *f = flight_at(p);
	__u64 now = bpf_ktime_get_ns();

	if (w->paused || bpf_get_current_pid_tgid() >> 32 == c->self)
		flags |= OURS;
	f->began_ns = now;
	f->issued_ns = issued ? now : 0;
	f->watch = w->watch;
	f->at = at;
	f->operation = op;
	f->flags = flags;
	if (f->key != key) /* another replaced it meanwhile, as it had ended */
		miss(REPLACED);
}

/* miss_end notes that the end of an I/O was not seen, if its request or bio is used again while it is in flight. */
static __always_inline void miss_end(struct place *p, struct watched *w)
{
	struct flight *f = flight_at(p);

	if (f->issued_ns && !(f->flags & OURS) && f->watch == w->watch && in_flight(p))
		miss(NOT_ENDED);
}

/* tell tells user space of a slow I/O. It is not of the most frequent ones, so it has a frame of its own. */
static __attribute__((noinline)) int tell(struct flight *f, struct place *p, __u64 now, __u64 sector, __u32 bytes)
{
	__u32 at = p->number * WAYS + p->way;
	struct detail *d = bpf_map_lookup_elem(&details, &at);
	/* Not reserved before the other is known: Linux 6.1 does not see that what is given back here was reserved. */
	struct slow *s = d ? bpf_ringbuf_reserve(&slows, sizeof(*s), 0) : 0;
	struct control *c = control();

	if (!s) {
		if (c)
			__sync_fetch_and_add(&c->untold, 1);
		return 0;
	}
	__builtin_memset(s, 0, sizeof(*s));
	if (f->flags & NAMED)
		s->detail = *d;
	if (f->flags & DETAILED) {
		sector = d->sector;
		bytes = d->bytes;
	}
	s->detail.sector = sector;
	s->detail.bytes = bytes;
	s->ended_ns = now;
	s->device_ns = now - f->issued_ns;
	s->queue_ns = f->issued_ns - f->began_ns;
	s->watch = f->watch;
	s->operation = f->operation;
	bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP); /* it is looked at once a second */
	return 0;
}

/*
 * end counts an I/O that is in flight, and forgets it; it returns 0 when it never saw it begin. What is said of a bio is
 * not known any more when it ends. Not static, so that it is verified once.
 */
__attribute__((noinline)) int end(__u64 key, __u64 sector, __u32 bytes)
{
	__u64 now = bpf_ktime_get_ns();
	struct watched *w;
	struct flight done;
	struct place p;
	__u32 at, slot;

	if (!place_of(key, &p) || !find(&p, key))
		return 0;
	done = *flight_at(&p);
	if (!done.began_ns || done.key != key)
		return 0;
	if (now < done.issued_ns) /* by the clock of another CPU */
		now = done.issued_ns;
	at = done.at;
	w = bpf_map_lookup_elem(&devices, &at);
	if (w && w->slow_ns <= now - done.began_ns && !(done.flags & OURS) && done.issued_ns && w->watch == done.watch &&
	    __sync_fetch_and_add(&w->left, -1) > 0)
		tell(&done, &p, now, sector, bytes);
	if (flight_at(&p)->key == key) /* nobody has replaced it meanwhile */
		flight_at(&p)->began_ns = 0;
	if (!w || w->watch != done.watch) /* the one that began was of a device that is gone */
		return 0;
	slot = w->slot;
	if (done.flags & OURS || !slot || w->paused)
		return 1;
	if (!done.issued_ns) {
		miss(NOT_ISSUED);
		return 1;
	}
	count(slot, done.operation, DEVICE, now - done.issued_ns);
	if (done.flags & INSERTED)
		count(slot, done.operation, QUEUE, done.issued_ns - done.began_ns);
	return 1;
}

/* see sees a request that is inserted into a queue, or else issued. */
static __always_inline void see(struct request *rq, bool issued)
{
	struct gendisk *disk = rq->q->disk;
	enum operation op = operation_of(rq->cmd_flags);
	struct control *c = control();
	struct watched *w;
	struct flight *f;
	struct place p;
	__u8 at, flags;
	__u64 key;

	if (!c || !disk)
		return;
	key = key_of(rq, c);
	if (op == NONE) { /* at the address of an I/O whose end was not seen */
		forget(key);
		return;
	}
	w = watch_of(number_of(disk), &at);
	if (!w || !place_of(key, &p) || !put(&p, key))
		return;
	f = flight_at(&p);
	if (((f->flags & REQUEUED) || (issued && !f->issued_ns)) && f->watch == w->watch && in_flight(&p)) {
		if (!issued)
			return;
		f->flags &= ~REQUEUED;
		if (!f->issued_ns)
			f->issued_ns = bpf_ktime_get_ns();
		return;
	}
	miss_end(&p, w);
	flags = issued ? 0 : INSERTED;
	if (c->names)
		flags |= describe(&p, c, rq->__sector, rq->__data_len) & ~DETAILED; /* others may be merged into it */
	begin(&p, key, c, w, at, op, flags, issued);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(rq_insert, struct request *rq)
{
	see(rq, false);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(rq_issue, struct request *rq)
{
	see(rq, true);
	return 0;
}

/* A request that the driver gives back is served by the device from the first time that it was issued. */
SEC("tp_btf/block_rq_requeue")
int BPF_PROG(rq_requeue, struct request *rq)
{
	struct control *c = control();
	struct place p;
	__u64 key;

	if (!c)
		return 0;
	key = key_of(rq, c);
	if (place_of(key, &p) && find(&p, key))
		flight_at(&p)->flags |= REQUEUED;
	return 0;
}

/* A request that is merged into another ends with that. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(rq_merge, struct request *rq)
{
	struct control *c = control();

	if (c)
		forget(key_of(rq, c));
	return 0;
}

/* is_missed reports whether a request should have been counted. */
static __always_inline bool is_missed(struct request *rq)
{
	struct gendisk *disk = rq->q->disk;
	struct watched *w;
	__u8 at;

	if (!disk || operation_of(rq->cmd_flags) == NONE)
		return false;
	w = watch_of(number_of(disk), &at);
	return w && !w->paused;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(rq_complete, struct request *rq, int error, unsigned int bytes)
{
	struct control *c = control();
	struct bio *bio;
	__u64 key;

	if (!c || bytes < rq->__data_len) /* a part of it */
		return 0;
	key = key_of(rq, c);
	/*
	 * A flush that an application asks for is a write without data. It is never issued: the kernel makes a flush of
	 * it, and it ends with that. Here may be an I/O that had its request before, whose end was not seen.
	 */
	if (!bytes && operation_of(rq->cmd_flags) != FLUSH)
		forget(key);
	else if (!end(key, rq->__sector, bytes) && is_missed(rq))
		miss(NOT_BEGUN);
	if (!c->bios)
		return 0;
	/*
	 * A bio that a device without requests passed on as it was (the head of NVMe
	 * multipath, md linear) ends with the request that carries it.
	 */
	bio = rq->bio;
	for (int i = 0; i < MERGED && bio; i++) {
		end(key_of(bio, c), 0, 0);
		bio = bio->bi_next;
	}
	return 0;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(bio_queue, struct bio *bio)
{
	struct control *c = control();
	struct gendisk *disk;
	struct watched *w;
	enum operation op;
	struct place p;
	__u64 key;
	__u8 at;

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
	w = watch_of(number_of(disk), &at);
	if (!w)
		return 0;
	key = key_of(bio, c);
	if (!place_of(key, &p) || !put(&p, key))
		return 0;
	miss_end(&p, w);
	begin(&p, key, c, w, at, op, describe(&p, c, bio->bi_iter.bi_sector, bio->bi_iter.bi_size), true);
	return 0;
}

SEC("tp_btf/block_bio_complete")
int BPF_PROG(bio_complete, struct request_queue *q, struct bio *bio)
{
	struct control *c = control();

	if (c && c->bios)
		end(key_of(bio, c), 0, 0);
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
