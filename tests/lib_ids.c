/* SPDX-License-Identifier: MIT */
/*
 * Every clock id, negative ones too, gets the system call's answer from vclock_gettime64 and
 * vclock_getres64, by every route: the same error, nothing stored on failure, errno as it was. The
 * kernel's own vDSO is wrong for the resolution of ids 16..23, and is not asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"

#define MARK 0x5a5a5a5a5a5a5a5aLL

static unsigned wrong;

static void expect(int cond, const char *call, int32_t clk)
{
	if (!cond) {
		printf("# %s(%d) differs from the system call\n", call, (int)clk);
		wrong++;
	}
}

static int is_marked(const struct vclock_timespec *ts)
{
	return ts->tv_sec == MARK && ts->tv_nsec == MARK;
}

static void judge(int32_t clk)
{
	struct vclock_timespec ts = {MARK, MARK}, res = {MARK, MARK}, want, want_res;
	int r, s;

	s = oracle_syscall_gettime(clk, &want);
	errno = 12345;
	r = vclock_gettime64(clk, &ts);
	expect(errno == 12345, "errno after gettime", clk);
	expect(r == s && is_marked(&ts) == (s != 0), "gettime", clk);

	s = oracle_syscall_getres(clk, &want_res);
	r = vclock_getres64(clk, &res);
	expect(errno == 12345, "errno after getres", clk);
	expect(r == s &&
		       (s != 0 ? is_marked(&res)
			       : res.tv_sec == want_res.tv_sec && res.tv_nsec == want_res.tv_nsec),
	       "getres", clk);
	expect(vclock_getres64(clk, NULL) == s, "getres with NULL", clk);
}

static int judge_all(void)
{
	static const int32_t far[] = {63, 64, 1000, INT_MAX, INT_MIN, INT_MIN + 1};
	int32_t pid = getpid(), clk;
	int fd = open("/dev/null", O_RDONLY);
	unsigned i;

	for (clk = -40; clk <= 40; clk++)
		judge(clk);
	for (i = 0; i < sizeof(far) / sizeof(far[0]); i++)
		judge(far[i]);
	for (i = 0; i < 8; i++) {
		judge((int32_t)((uint32_t)~pid << 3 | i));   /* this process's CPU clocks */
		judge((int32_t)((uint32_t)~32767 << 3 | i)); /* most likely nobody's */
		judge((int32_t)((uint32_t)~fd << 3 | i));    /* a descriptor that is no clock */
	}
	close(fd);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv);

	if (what != NULL && strcmp(what, "page") == 0)
		support_exit(support_publish(NULL) != 0 || judge_all());
	if (what != NULL)
		support_exit(judge_all());
	tap_ok(support_again("vdso", "VCLOCK_ROUTE=vdso") == 0, "by the vDSO");
	tap_ok(support_again("syscall", "VCLOCK_ROUTE=syscall") == 0, "by the system call");
	tap_ok(support_again("page", NULL) == 0, "by a page");
	return tap_done();
}
