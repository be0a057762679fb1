/* SPDX-License-Identifier: MIT */
/*
 * process.c - the state that fork wipes, the window, and when its page is held against the kernel.
 *
 * Must never wait inside a time call: whoever finds somebody else at work asks the kernel instead.
 */
#include "lib/process.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "lib/kernel.h"
#include "publish/page_judge.h"
#include "vclock/read.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

union lib_process_area lib_area __attribute__((aligned(LIB_AREA)));
union lib_window lib_window_area __attribute__((aligned(LIB_AREA)));
const void *lib_vsyscall;

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static bool swap_state(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&lib_process.state, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* The words of the process as they should be without a page: see struct lib_process. */
static uint32_t straight_to_vdso(void)
{
	uint32_t counted = 0;

	if (lib_program.page_source != VCLOCK_PAGE_NONE || lib_program.route_is_page)
		counted = VCLOCK_PAGE_CLOCKS;
	return lib_kernel.vdso_clocks & ~counted;
}

static uint32_t on_page(void)
{
	return VCLOCK_PAGE_CLOCKS & (~LIB_ALARM_CLOCKS | lib_kernel.alarm_clocks);
}

/*
 * Above 1 ms no page is used here: a time namespace's offset that is smaller than that is not told
 * from the page's own error, and does as little harm.
 */
#define CHECK_TOLERANCE_NS 1000000

/* A page of which vclock_open() could not say anything is held against all clocks, as it would have
 * done; any other against those that a time namespace shifts. */
static int compare_window(void)
{
	if (!lib_program.is_compared)
		return page_judge_clocks(LIB_PAGE, on_page(), PAGE_JUDGE_TOLERANCE_NS,
					 kernel_gettime);
	return page_judge_clocks(LIB_PAGE,
				 VCLOCK_BIT(VCLOCK_MONOTONIC) | VCLOCK_BIT(VCLOCK_BOOTTIME),
				 CHECK_TOLERANCE_NS, kernel_gettime);
}

LIB_COLD void process_check(void)
{
	uint64_t ns;
	int r;

	if (!lib_program.is_set_up || load(&lib_process.state) != LIB_NEW)
		return;
	store(&lib_process.vdso_clocks, straight_to_vdso());
	/* While the page says nothing there is nothing to compare; look again at the next call. */
	if (lib_program.page_source != VCLOCK_PAGE_NONE &&
	    vclock_read_ns(LIB_PAGE, VCLOCK_MONOTONIC, &ns) != 0)
		return;
	if (!swap_state(LIB_NEW, LIB_CHECKING))
		return;
	if (lib_program.page_source == VCLOCK_PAGE_NONE) {
		store(&lib_process.state, LIB_READY);
		return;
	}
	r = compare_window();
	if (r == 0) {
		lib_program.is_compared = true;
		store(&lib_process.page_clocks, on_page());
	} else if (r == -EAGAIN) {
		store(&lib_process.state, LIB_NEW);
		return;
	} else if (process_map(-1) == 0) {
		lib_program.page_source = VCLOCK_PAGE_NONE;
		lib_program.no_page_reason = lib_program.is_compared ? VCLOCK_REASON_TIME_NAMESPACE
								     : VCLOCK_REASON_NO_PAGE;
		lib_program.page_error = lib_program.is_compared ? 0 : -EDOM;
		store(&lib_process.vdso_clocks, straight_to_vdso());
	}
	store(&lib_process.state, LIB_READY);
}

void process_change_begin(void)
{
	store(&lib_process.page_clocks, 0);
	store(&lib_process.vdso_clocks, lib_kernel.vdso_clocks);
	/* A check is a few clock reads; its thread may have lost the CPU in the middle. */
	while (!swap_state(LIB_NEW, LIB_CHECKING) && !swap_state(LIB_READY, LIB_CHECKING))
		(void)raw_syscall2(SYS_sched_yield, 0, 0);
	store(&lib_process.page_clocks, 0);
}

bool process_change_try(void)
{
	if (!swap_state(LIB_NEW, LIB_CHECKING) && !swap_state(LIB_READY, LIB_CHECKING))
		return false;
	store(&lib_process.page_clocks, 0);
	store(&lib_process.vdso_clocks, lib_kernel.vdso_clocks);
	return true;
}

void process_change_end(bool is_verified)
{
	bool has_page = lib_program.page_source != VCLOCK_PAGE_NONE;

	store(&lib_process.vdso_clocks, straight_to_vdso());
	if (has_page && is_verified)
		store(&lib_process.page_clocks, on_page());
	store(&lib_process.state, has_page && !is_verified ? LIB_NEW : LIB_READY);
}

int process_map(int fd)
{
	int saved = errno, r = 0;
	void *at;

	at = mmap(LIB_PAGE, VCLOCK_PAGE_SIZE, PROT_READ,
		  MAP_FIXED | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), fd, 0);
	if (at == MAP_FAILED)
		r = -errno;
	errno = saved;
	return r;
}

void process_set_path(const char *path)
{
	size_t length = strnlen(path, sizeof(lib_program.page_path) - 1);

	if (path == lib_program.page_path)
		return;
	memset(lib_program.page_path, 0, sizeof(lib_program.page_path));
	memcpy(lib_program.page_path, path, length);
}

bool process_try_lock(void)
{
	uint32_t unlocked = 0;

	return __atomic_compare_exchange_n(&lib_process.lock, &unlocked, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

void process_lock(void)
{
	while (!process_try_lock()) {
		struct timespec pause = {0, 100000};

		(void)raw_syscall2(SYS_nanosleep, (long)&pause, 0);
	}
}

void process_unlock(void)
{
	store(&lib_process.lock, 0);
}

/* A thread's stack tells it from other threads, without thread-local storage. */
static struct lib_shard *own_shard(void)
{
	uint32_t hash = (uint32_t)((uintptr_t)__builtin_frame_address(0) >> 14) * 2654435761u;

	return &lib_process.shard[hash >> 28];
}

LIB_COLD void process_count(enum vclock_reason reason)
{
	lib_count *count = &own_shard()->count[(uint32_t)reason - 1];

	if (lib_program.is_set_up)
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&lib_program.early_calls, 1, __ATOMIC_RELAXED);
}

enum vclock_reason process_reason(uint32_t clk)
{
	const struct vclock_page *page = LIB_PAGE;
	const struct vclock_slot *slot;

	if (!lib_program.is_set_up)
		return VCLOCK_REASON_TOO_EARLY;
	if (clk >= VCLOCK_BASES || (VCLOCK_BIT(clk) & on_page()) == 0)
		return VCLOCK_REASON_NOT_ON_PAGE;
	if (lib_program.page_source == VCLOCK_PAGE_NONE)
		return lib_program.no_page_reason;
	slot = &page->slot[VCLOCK_LOAD32(&page->generation) & 1];
	return VCLOCK_LOAD32(&slot->retired) != 0 ? VCLOCK_REASON_RETIRED
						  : VCLOCK_REASON_NOT_COVERED;
}

void process_set_up(void)
{
	unsigned long page_size = getauxval(AT_PAGESZ);
	void *at;

	/* A loader may not know alignments above the page size; it always keeps the page size. */
	if (((uintptr_t)&lib_area | (uintptr_t)&lib_window_area) & (page_size - 1))
		return;
	at = mmap(&lib_area, LIB_AREA, PROT_READ | PROT_WRITE,
		  MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return;
	lib_program.wipes = madvise(&lib_area, LIB_AREA, MADV_WIPEONFORK) == 0;
	if (lib_program.wipes)
		lib_process.constructed = (uint32_t)raw_getpid();
}
