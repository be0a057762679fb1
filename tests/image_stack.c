/* SPDX-License-Identifier: MIT */
/*
 * The image leaves its callers their stack: at most 104 bytes of its own frames, return address
 * included, where it answers itself, where it makes the system call, and where it jumps into the
 * kernel's code. Measured on a painted stack; a function with a larger frame is seen.
 */
#include <string.h>

#include "arch/painted_call.h"
#include "check/oracle.h"
#include "support_image.h"
#include "tap.h"

#define LIMIT 104
#define PAINT 0xa5
#define ROOM 8192

static unsigned char stack[ROOM] __attribute__((aligned(64)));
static unsigned char *const top = stack + ROOM - 64;
static size_t depth_at_kernel; /* the most; 0: the kernel was not called */

static void note_depth(const unsigned char *place)
{
	size_t depth = (size_t)(top - place);

	if (depth > depth_at_kernel)
		depth_at_kernel = depth;
}

static struct vclock_timespec landing_time[VCLOCK_BASES];

static int landing_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	note_depth(PAINTED_CALL_PLACE());
	if ((uint32_t)clk < VCLOCK_BASES)
		*ret_ts = landing_time[clk];
	return 0;
}

static long landing_other(void)
{
	note_depth(PAINTED_CALL_PLACE());
	return 0;
}

static size_t painted(void)
{
	size_t i;

	for (i = 0; &stack[i] < top && stack[i] == PAINT; i++)
		;
	return (size_t)(top - &stack[i]);
}

/* How much of the stack function took, its own part only. */
static size_t used(const void *function, long a, long b)
{
	memset(stack, PAINT, sizeof(stack));
	depth_at_kernel = 0;
	painted_call(function, a, b, 0, top);
	return depth_at_kernel != 0 ? depth_at_kernel : painted();
}

__attribute__((noinline)) static long greedy(long a)
{
	unsigned char frame[LIMIT + 1];

	memset(frame, (int)a, sizeof(frame));
	__asm__ __volatile__("" : : "r"(frame) : "memory"); /* keeps all of it */
	return frame[0];
}

struct state {
	const char *name;
	int is_settled, with_vdso;
	int page; /* whether it is kept */
};

static size_t worst;
static const char *worst_of;

static void note(const char *what, size_t bytes)
{
	if (bytes > worst) {
		worst = bytes;
		worst_of = what;
	}
	if (bytes > LIMIT)
		tap_diag("%s: %zu bytes", what, bytes);
}

static void set_state(struct image_map *map, const struct state *state)
{
	unsigned clk;

	map->state->compared = state->is_settled ? PROCESS_AGREES : PROCESS_NOT_COMPARED;
	for (clk = 0; clk < VCLOCK_BASES; clk++)
		oracle_syscall_gettime((int32_t)clk, &landing_time[clk]);
}

static void judge(struct image_map *map, const struct state *state)
{
	static const int32_t ids[] = {0, 1, 2, 4, 5, 6, 7, 8, 9, 11, 16, 99, -2};
	static const struct {
		unsigned slot;
		const char *name;
	} others[] = {{PROCESS_GETTIMEOFDAY, "gettimeofday"},
		      {PROCESS_TIME, "time"},
		      {PROCESS_CLOCK_GETRES, "clock_getres"},
		      {PROCESS_GETCPU, "getcpu"}};
	const void *gettime32 = image_function(map, PROCESS_CLOCK_GETTIME32);
	int64_t buffer[8];
	long out = (long)buffer, out2 = (long)&buffer[4];
	unsigned i;

	worst = 0;
	worst_of = "nothing";
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		set_state(map, state);
		note("clock_gettime", used((const void *)map->gettime, ids[i], out));
		if (gettime32 != NULL) {
			set_state(map, state);
			note("32-bit clock_gettime", used(gettime32, ids[i], out));
		}
	}
	for (i = 0; i < VCLOCK_BASES; i++) {
		set_state(map, state);
		if (map->gettime_one[i] != NULL)
			note("one clock", used((const void *)map->gettime_one[i], out, 0));
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const void *function = image_function(map, others[i].slot);

		set_state(map, state);
		if (function != NULL)
			note(others[i].name, used(function, i == 2 ? 1 : out, out2));
	}
	tap_ok(worst <= LIMIT, "%s: %zu bytes, %s", state->name, worst, worst_of);
}

static void fill_landings(struct image_map *map, int with_vdso)
{
	unsigned i;

	for (i = 0; i < PROCESS_FUNCTIONS; i++)
		map->process->function[i] = with_vdso ? (uintptr_t)landing_other : 0;
	if (with_vdso)
		map->process->function[PROCESS_CLOCK_GETTIME] = (uintptr_t)landing_gettime;
	map->process->flags = PROCESS_HAS_ALARM;
}

int main(void)
{
	static const struct state states[] = {
		{"settled, with the kernel's vDSO", 1, 1, 1},
		{"settled, system calls", 1, 0, 1},
		{"first call, with the kernel's vDSO", 0, 1, 1},
		{"first call, system calls", 0, 0, 1},
		{"settled, no page, with the kernel's vDSO", 1, 1, 0},
		{"settled, no page, system calls", 1, 0, 0},
	};
	struct image_map kept, empty, *map;
	unsigned i;

	image_map(&kept, image_start_page(), 1);
	image_map(&empty, -1, 1);
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		map = states[i].page ? &kept : &empty;
		fill_landings(map, states[i].with_vdso);
		judge(map, &states[i]);
	}
	tap_ok(used((const void *)greedy, 1, 0) > LIMIT, "a larger frame is seen");
	/* But for its last byte, which may look like the paint. */
	tap_ok((long)used(image_function(&kept, PROCESS_CLOCK_GETRES), 1, 0) + 1 >=
		       (long)PAINTED_CALL_PUSHES,
	       "the return address counts");
	return tap_done();
}
