/* SPDX-License-Identifier: MIT */
/*
 * Without /proc nobody can tell whether a vDSO is the kernel's own: what is known to be wrong with
 * that one is no failure then, and no pass.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_check.h"
#include "support_lib.h"
#include "tap.h"

static int wrong_getres(const struct check_subject *self, int32_t clk,
			struct vclock_timespec *ret_res)
{
	(void)self;
	(void)clk;
	(void)ret_res;
	return -EINVAL;
}

static void judge(void)
{
	struct check_subject subject;
	struct support_rows rows;
	struct vclock_timespec res;
	bool is_odd;

	if (check_subject_vdso(&subject) != 0 || subject.getres == NULL) {
		tap_skip("its vDSO", "this kernel's vDSO does not have the function");
		return;
	}
	tap_ok(oracle_vdso_owner() == ORACLE_OWNER_UNKNOWN && !subject.is_kernels_vdso,
	       "whose vDSO it is cannot be told");
	is_odd = subject.getres(&subject, 16, &res) == 0;
	support_run("getres", &subject, 0, 0, 0, &rows);
	tap_ok(rows.count == 1 && rows.row[0].verdict == (is_odd ? CHECK_IMPOSSIBLE : CHECK_PASS) &&
		       rows.row[0].outside == 0,
	       "its answers for ids that do not exist: %s", rows.row[0].note);
	subject.getres = wrong_getres;
	support_run("getres", &subject, 0, 0, 0, &rows);
	tap_ok(rows.count == 1 && rows.row[0].verdict == CHECK_FAIL, "another fault is one: %s",
	       rows.row[0].note);
}

int main(void)
{
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/proc", "tmpfs", 0, NULL) != 0)
		tap_skip("no /proc", errno == EPERM ? "needs root" : strerror(errno));
	else
		judge();
	/* Not through exit(): a sanitizer would look for leaks, and needs /proc for that. */
	support_exit(tap_done());
}
