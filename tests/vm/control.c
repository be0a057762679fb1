/* SPDX-License-Identifier: MIT */
/* control.c - see control.h. */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC 1000000000

static struct timespec timespec_of(int64_t ns)
{
	struct timespec ts;

	ts.tv_sec = (time_t)(ns / NSEC_PER_SEC);
	ts.tv_nsec = (long)(ns % NSEC_PER_SEC);
	return ts;
}

int control_step(int64_t delta_ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts = timespec_of((int64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec + delta_ns);
	return clock_settime(CLOCK_REALTIME, &ts) != 0 ? -errno : 0;
}

int control_set(int64_t sec)
{
	struct timespec ts = {.tv_sec = (time_t)sec};

	return clock_settime(CLOCK_REALTIME, &ts) != 0 ? -errno : 0;
}

static int adjust(struct timex *timex)
{
	return adjtimex(timex) < 0 ? -errno : 0;
}

int control_frequency(long ppm)
{
	struct timex timex = {.modes = ADJ_FREQUENCY, .freq = ppm * 65536};

	return adjust(&timex);
}

int control_frequency_now(long *ret_ppm16)
{
	struct timex timex = {.modes = 0};
	int r = adjust(&timex);

	*ret_ppm16 = timex.freq;
	return r;
}

int control_tick(long tick_us)
{
	struct timex timex = {.modes = ADJ_TICK, .tick = tick_us};

	return adjust(&timex);
}

int control_set_offset(int64_t delta_ns)
{
	struct timex timex = {.modes = ADJ_SETOFFSET | ADJ_NANO};
	int64_t sec = delta_ns / NSEC_PER_SEC, nsec = delta_ns % NSEC_PER_SEC;

	if (nsec < 0) {
		sec--;
		nsec += NSEC_PER_SEC;
	}
	timex.time.tv_sec = (time_t)sec;
	timex.time.tv_usec = (suseconds_t)nsec;
	return adjust(&timex);
}

int control_tai(int tai_offset_sec)
{
	struct timex timex = {.modes = ADJ_TAI, .constant = tai_offset_sec};

	return adjust(&timex);
}

int control_leap(int sign)
{
	struct timex timex = {.modes = ADJ_STATUS};

	timex.status = sign > 0 ? STA_INS : sign < 0 ? STA_DEL : 0;
	return adjust(&timex);
}

int control_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

int control_read(const char *path, char *ret_text, unsigned size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, ret_text, size - 1);
	int r = length < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	ret_text[length < 0 ? 0 : length] = '\0';
	ret_text[strcspn(ret_text, "\n")] = '\0';
	return r;
}

int control_cpu(int cpu, int online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return control_write(path, online ? "1" : "0");
}

int control_clocksource(const char *name)
{
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char now[64];
	int r = control_write(path, name);

	if (r == 0)
		r = control_read(path, now, sizeof(now));
	return r != 0 ? r : strcmp(now, name) != 0 ? -EINVAL : 0;
}

int control_suspend(int sec)
{
	char alarm[16];
	int r = control_write("/sys/class/rtc/rtc0/wakealarm", "0");

	snprintf(alarm, sizeof(alarm), "+%d", sec);
	if (r == 0)
		r = control_write("/sys/class/rtc/rtc0/wakealarm", alarm);
	if (r == 0)
		r = control_write("/sys/power/state", "mem");
	return r;
}
