/* SPDX-License-Identifier: MIT */
/* support_image.c - see support_image.h. */
#include "support_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/image_arch.h"
#include "check/oracle.h"
#include "elf/arch/host.h"
#include "publish/publisher.h"
#include "vclock/read.h"

uint64_t image_fallbacks;

static const struct image_map *counted;
static struct process_page counted_process;

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static const struct image_arch *arch(void)
{
	return image_arch_of(ELF_HOST_MACHINE, sizeof(void *) == 8);
}

const char *image_path(void)
{
	static char path[PATH_MAX + 64];
	char exe[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n < 0)
		die("/proc/self/exe");
	exe[n] = '\0';
	/* build/CELL/tests/NAME: the images are in build/images, or what the compiler made them. */
	slash = strstr(exe, "/tests/");
	if (slash != NULL)
		*slash = '\0';
	slash = strrchr(exe, '/');
	if (slash == NULL)
		die(exe);
	snprintf(path, sizeof(path), "%.*s/images%s/vdso-%s.so", (int)(slash - exe), exe,
		 strstr(slash, "-clang") != NULL ? "-clang" : "", arch()->name);
	return path;
}

const void *image_entry(const struct image_map *map, const char *name)
{
	const void *address = NULL;

	return vclock_elf_lookup(&map->elf, name, NULL, &address) == 0 ? address : NULL;
}

const void *image_function(const struct image_map *map, unsigned slot)
{
	const char *name = arch()->functions[slot];

	return name != NULL ? image_entry(map, name) : NULL;
}

static void map_at(unsigned char *at, size_t size, int prot, int flags, int fd, const char *what)
{
	if (mmap(at, size, prot, flags | MAP_FIXED, fd, 0) != at)
		die(what);
}

/*
 * The page.
 */

static struct {
	pthread_t thread;
	struct publisher publisher;
	struct vclock_page *page;
	int64_t offset_ns;
	uint32_t must_stop; /* atomic */
} keeper;

/* The kernel's clocks, set apart. */
static int sample_apart(struct reference *reference, struct reference_sample *ret_sample)
{
	int r = reference_kernel()->sample(reference_kernel(), ret_sample);

	(void)reference;
	ret_sample->mono.ns += (uint64_t)keeper.offset_ns;
	ret_sample->real_minus_mono_ns -= keeper.offset_ns;
	return r;
}

static uint64_t counter_apart(void *reference)
{
	(void)reference;
	return vclock_counter_ordered();
}

static struct reference reference_apart = {.sample = sample_apart, .read_counter = counter_apart};

static void *keep_page(void *arg)
{
	enum vclock_retired reason;
	struct timespec pause = {.tv_sec = 0};
	uint64_t sleep_ns;

	(void)arg;
	while (!__atomic_load_n(&keeper.must_stop, __ATOMIC_ACQUIRE)) {
		if (publisher_step(&keeper.publisher, &sleep_ns, &reason) != 0) {
			publisher_retire(&keeper.publisher, reason);
			break;
		}
		pause.tv_nsec = (long)sleep_ns;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int image_start_page(void)
{
	return image_start_page_apart(0);
}

int image_start_page_apart(int64_t offset_ns)
{
	struct publisher_config config = {
		.page = {.counter_kind = VCLOCK_COUNTER_KIND, .coarse_ns = 4000000},
		.counter_is_clocksource = true,
	};
	struct sched_param priority = {.sched_priority = 1};
	struct vclock_timespec ts;
	int fd = memfd_create("page", MFD_CLOEXEC), i;

	if (fd < 0 || ftruncate(fd, VCLOCK_PAGE_SIZE) != 0)
		die("memfd");
	keeper.page = mmap(NULL, VCLOCK_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (keeper.page == MAP_FAILED)
		die("mmap of the page");
	keeper.must_stop = 0;
	keeper.offset_ns = offset_ns;
	if (publisher_init(&keeper.publisher, &reference_apart, keeper.page, &config) != 0 ||
	    pthread_create(&keeper.thread, NULL, keep_page, NULL) != 0)
		die("publisher");
	pthread_setschedparam(keeper.thread, SCHED_FIFO, &priority); /* where that is allowed */
	for (i = 0; vclock_read_timespec(keeper.page, VCLOCK_MONOTONIC, &ts) != 0; i++) {
		if (i == 3000)
			die("no line on the page in 3 s");
		usleep(1000);
	}
	usleep(300000); /* a full window of samples */
	return fd;
}

void image_stop_page(enum vclock_retired reason)
{
	__atomic_store_n(&keeper.must_stop, 1, __ATOMIC_RELEASE);
	pthread_join(keeper.thread, NULL);
	if (reason != VCLOCK_RETIRED_NOT)
		publisher_retire(&keeper.publisher, reason);
}

/*
 * The maps.
 */

static void fill(struct image_map *map, int with_vdso)
{
	unsigned long address = with_vdso ? getauxval(AT_SYSINFO_EHDR) : 0;
	struct vclock_vdso vdso;
	int r = vclock_vdso_find((const void *)address, 0, &vdso);

	process_page_fill(map->process, arch(), r == 0 ? &vdso.elf : NULL, address,
			  process_page_flags());
}

static void take_entries(struct image_map *map)
{
	unsigned i;

	map->gettime = (int (*)(int32_t, struct vclock_timespec *))image_function(
		map, PROCESS_CLOCK_GETTIME);
	for (i = 0; i < VCLOCK_BASES; i++)
		if (arch()->own[i] != NULL)
			map->gettime_one[i] =
				(int (*)(struct vclock_timespec *))image_entry(map, arch()->own[i]);
	map->gettimeofday = (int (*)(long *, int32_t *))image_function(map, PROCESS_GETTIMEOFDAY);
	map->time = (long (*)(long *))image_function(map, PROCESS_TIME);
	map->getres = (int (*)(int32_t, long *))image_function(map, PROCESS_CLOCK_GETRES);
	map->getcpu = (int (*)(unsigned *, unsigned *, void *))image_function(map, PROCESS_GETCPU);
	if (map->gettime == NULL || map->gettimeofday == NULL || map->getres == NULL)
		die("the image's entries");
	for (i = 0; i < PROCESS_FUNCTIONS; i++)
		if (arch()->functions[i] != NULL && image_function(map, i) == NULL)
			die(arch()->functions[i]);
}

void image_map(struct image_map *ret_map, int page_fd, int with_vdso)
{
	struct image_map map = {.unit = arch()->unit};
	size_t front = (size_t)PROCESS_UNITS * map.unit;
	unsigned char *area;
	struct stat st;
	int fd = open(image_path(), O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0)
		die(image_path());
	map.size = (size_t)st.st_size;
	area = mmap(NULL, front + map.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (area == MAP_FAILED)
		die("mmap");
	if (page_fd >= 0)
		map_at(area, VCLOCK_PAGE_SIZE, PROT_READ, MAP_SHARED, page_fd, "page");
	map_at(area + 2 * map.unit, map.unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	       -1, "state page");
	if (madvise(area + 2 * map.unit, map.unit, MADV_WIPEONFORK) != 0)
		die("MADV_WIPEONFORK");
	map_at(area + front, map.size, (int)arch()->prot, MAP_PRIVATE, fd, "image");
	close(fd);
	map.page = (const struct vclock_page *)(void *)area;
	map.process = (struct process_page *)(void *)(area + map.unit);
	map.state = (struct process_state *)(void *)(area + 2 * map.unit);
	map.image = area + front;
	if (vclock_elf_open(map.image, map.size, 1, &map.elf) != 0)
		die("the image is no ELF image");
	fill(&map, with_vdso);
	take_entries(&map);
	*ret_map = map;
}

void image_unmap(struct image_map *map)
{
	size_t front = (size_t)PROCESS_UNITS * map->unit;

	munmap((void *)(uintptr_t)(map->image - front), front + map->size);
}

/*
 * The functions that count. Calls go on to what stood in the slot.
 */

static int count_gettime(int32_t clk, struct vclock_timespec *ts)
{
	uint64_t next = counted_process.function[PROCESS_CLOCK_GETTIME];

	__atomic_add_fetch(&image_fallbacks, 1, __ATOMIC_RELAXED);
	if (next == 0)
		return oracle_syscall_gettime(clk, ts);
	return ((int (*)(int32_t, struct vclock_timespec *))(uintptr_t)next)(clk, ts);
}

static int count_gettimeofday(long *tv, int32_t *tz)
{
	uint64_t next = counted_process.function[PROCESS_GETTIMEOFDAY];

	__atomic_add_fetch(&image_fallbacks, 1, __ATOMIC_RELAXED);
	return ((int (*)(long *, int32_t *))(uintptr_t)next)(tv, tz);
}

void image_count_fallbacks(struct image_map *map)
{
	counted_process = *map->process;
	counted = map;
	image_fallbacks = 0;
	map->process->function[PROCESS_CLOCK_GETTIME] = (uintptr_t)count_gettime;
	if (counted_process.function[PROCESS_GETTIMEOFDAY] != 0)
		map->process->function[PROCESS_GETTIMEOFDAY] = (uintptr_t)count_gettimeofday;
}

static const struct image_map *map_of(const struct check_subject *self)
{
	return self->arg;
}

static int subject_gettime(const struct check_subject *self, int32_t clk,
			   struct vclock_timespec *ret_ts)
{
	return map_of(self)->gettime(clk, ret_ts);
}

static int subject_getres(const struct check_subject *self, int32_t clk,
			  struct vclock_timespec *ret_res)
{
	long res[2];
	int r = map_of(self)->getres(clk, ret_res != NULL ? res : NULL);

	if (r == 0 && ret_res != NULL) {
		ret_res->tv_sec = res[0];
		ret_res->tv_nsec = res[1];
	}
	return r;
}

static int subject_gettimeofday(const struct check_subject *self, struct vclock_timeval *ret_tv)
{
	long tv[2];
	int r = map_of(self)->gettimeofday(ret_tv != NULL ? tv : NULL, NULL);

	if (r == 0 && ret_tv != NULL) {
		ret_tv->tv_sec = tv[0];
		ret_tv->tv_usec = tv[1];
	}
	return r;
}

static int64_t subject_time(const struct check_subject *self)
{
	return map_of(self)->time(NULL);
}

static uint64_t subject_fallbacks(const struct check_subject *self)
{
	(void)self;
	return __atomic_load_n(&image_fallbacks, __ATOMIC_RELAXED);
}

void image_subject(struct check_subject *ret_subject, const struct image_map *map)
{
	int has_vdso = counted == map && counted_process.function[PROCESS_CLOCK_GETTIME] != 0;

	*ret_subject = (struct check_subject){
		.name = "image",
		.route = VCLOCK_ROUTE_PAGE,
		.fallback_route = has_vdso ? VCLOCK_ROUTE_VDSO : VCLOCK_ROUTE_SYSCALL,
		.clocks = VCLOCK_BIT(VCLOCK_REALTIME) | VCLOCK_BIT(VCLOCK_MONOTONIC) |
			  VCLOCK_BIT(VCLOCK_MONOTONIC_RAW) | VCLOCK_BIT(VCLOCK_BOOTTIME) |
			  VCLOCK_BIT(VCLOCK_TAI),
		.takes_any_id = true,
		.keeps_errno = true,
		.is_fine = true,
		.arg = (void *)(uintptr_t)map,
		.gettime = subject_gettime,
		.getres = subject_getres,
		.gettimeofday = subject_gettimeofday,
		.time = map->time != NULL ? subject_time : NULL,
		.fallbacks = subject_fallbacks,
		.page = map->page,
	};
}
