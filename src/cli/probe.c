/* SPDX-License-Identifier: MIT */
/*
 * probe.c - see probe.h.
 */
#include "cli/probe.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/bench_loops.h"

/* Not an error that clock_gettime gives by itself. */
#define REFUSED EDOM
/* A call that enters the kernel costs what the system call costs, and a little more. */
#define CHEAP_PART 0.6

typedef int clock_function(int32_t clk, struct vclock_timespec *ret_ts);

bool probe_answers(const struct probe *probe, int32_t id)
{
	size_t i;

	for (i = 0; i < CLOCK_NAMES; i++) {
		if (clock_names[i].id == id)
			return probe->answers[i];
	}
	return false;
}

/*
 * The kernel's seccomp ABI, here because <linux/filter.h> and <linux/seccomp.h> are not at hand
 * where a program is built with musl.
 */
#define FILTER_MODE 2
#define FILTER_LOAD 0x20       /* BPF_LD | BPF_W | BPF_ABS */
#define FILTER_JUMP_EQUAL 0x15 /* BPF_JMP | BPF_JEQ | BPF_K */
#define FILTER_RETURN 0x06     /* BPF_RET | BPF_K */
#define FILTER_NUMBER_AT 0     /* offset of nr in struct seccomp_data */
#define FILTER_ERRNO UINT32_C(0x00050000)
#define FILTER_ALLOW UINT32_C(0x7fff0000)

struct filter_instruction {
	uint16_t code;
	uint8_t jump_true, jump_false;
	uint32_t k;
};

struct filter_program {
	unsigned short length;
	const struct filter_instruction *instruction;
};

/* Both numbers of a 32-bit machine, since its vDSO may use either. */
static bool refuse_clock_calls(void)
{
	static const struct filter_instruction filter[] = {
		{FILTER_LOAD, 0, 0, FILTER_NUMBER_AT},
		{FILTER_JUMP_EQUAL, 1, 0, SYS_clock_gettime},
		{FILTER_JUMP_EQUAL, 0, 1, RAWCALL_CLOCK_GETTIME},
		{FILTER_RETURN, 0, 0, FILTER_ERRNO | REFUSED},
		{FILTER_RETURN, 0, 0, FILTER_ALLOW},
	};
	const struct filter_program program = {sizeof(filter) / sizeof(filter[0]), filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, FILTER_MODE, &program) == 0;
}

/* Only async-signal-safe calls: the parent may have threads. */
static void __attribute__((noreturn)) ask(clock_function *gettime, int fd)
{
	bool answers[CLOCK_NAMES];
	struct vclock_timespec ts;
	size_t i;

	if (!refuse_clock_calls())
		_exit(1);
	for (i = 0; i < CLOCK_NAMES; i++)
		answers[i] = gettime(clock_names[i].id, &ts) == 0;
	_exit(write(fd, answers, sizeof(answers)) != sizeof(answers));
}

static bool probe_by_filter(clock_function *gettime, struct probe *probe)
{
	int fds[2], status = 1;
	bool answers[CLOCK_NAMES];
	ssize_t n;
	pid_t pid;

	if (pipe(fds) != 0)
		return false;
	pid = fork();
	if (pid == 0)
		ask(gettime, fds[1]);
	close(fds[1]);
	n = pid > 0 ? read(fds[0], answers, sizeof(answers)) : 0;
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n != sizeof(answers) || status != 0)
		return false;
	memcpy(probe->answers, answers, sizeof(answers));
	probe->how = "seccomp";
	return true;
}

void probe_by_cost(const struct vclock_vdso *vdso, struct probe *ret_probe)
{
	struct measure_candidate candidates[1 + 2 * CLOCK_NAMES] = {{.loop = measure_empty_loop}};
	struct bench_subject subjects[CLOCK_NAMES] = {{0}};
	struct measure_options options = {.rounds = 20, .batch_ns = 20000};
	struct measure_candidate *pair;
	size_t i;

	memset(ret_probe, 0, sizeof(*ret_probe));
	ret_probe->how = "cost";
	for (i = 0; i < CLOCK_NAMES; i++) {
		subjects[i].clk = clock_names[i].id;
		subjects[i].function = vdso->clock_gettime;
		pair = &candidates[1 + 2 * i];
		pair[0].loop = bench_function_clock;
		pair[1].loop = bench_rawcalls[0].clock;
		pair[0].subject = pair[1].subject = &subjects[i];
	}
	if (measure_run(&options, candidates, 1 + 2 * CLOCK_NAMES) != 0)
		return;
	for (i = 0; i < CLOCK_NAMES; i++) {
		pair = &candidates[1 + 2 * i];
		ret_probe->answers[i] = pair[0].result.min_ns < pair[1].result.min_ns * CHEAP_PART;
		measure_result_free(&pair[0].result);
		measure_result_free(&pair[1].result);
	}
	measure_result_free(&candidates[0].result);
}

void probe_kernel(const struct vclock_vdso *vdso, struct probe *ret_probe)
{
	clock_function *gettime;

	memset(ret_probe, 0, sizeof(*ret_probe));
	ret_probe->how = "no vDSO";
	if (vdso->error != 0 || vdso->clock_gettime == NULL)
		return;
	*(const void **)&gettime = vdso->clock_gettime;
	if (!probe_by_filter(gettime, ret_probe))
		probe_by_cost(vdso, ret_probe);
}
