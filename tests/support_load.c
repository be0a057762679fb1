/* SPDX-License-Identifier: MIT */
/* support_load.c - see support_load.h. */
#include "support_load.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void spin(void)
{
	volatile unsigned count = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGALRM, SIG_DFL);
	alarm(60);
	for (;;)
		count++;
}

void support_load_start(struct support_load *load, int count)
{
	pid_t pid;

	for (load->count = 0; load->count < count && load->count < SUPPORT_LOAD_MAX;) {
		pid = fork();
		if (pid == 0)
			spin();
		if (pid < 0)
			return;
		load->pid[load->count++] = pid;
	}
}

void support_load_stop(struct support_load *load)
{
	while (load->count > 0) {
		kill(load->pid[--load->count], SIGKILL);
		waitpid(load->pid[load->count], NULL, 0);
	}
}
