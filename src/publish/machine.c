/* SPDX-License-Identifier: MIT */
/* machine.c - see machine.h. What /proc says is hostile text. */
#include "publish/machine.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 32 digits with dashes between. All zero when it is anything else. */
static void parse_boot_id(const char *text, uint8_t id[16])
{
	int n = 0;

	memset(id, 0, 16);
	for (; *text != '\0' && *text != '\n' && n < 32; text++) {
		if (*text == '-')
			continue;
		if (hex_digit(*text) < 0)
			break;
		id[n / 2] = (uint8_t)(id[n / 2] << 4 | hex_digit(*text));
		n++;
	}
	if (n != 32)
		memset(id, 0, 16);
}

void machine_identify(struct machine_identity *ret_identity)
{
	char text[64] = "";
	struct stat st;
	ssize_t n;
	int fd;

	memset(ret_identity, 0, sizeof(*ret_identity));
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		close(fd);
		parse_boot_id(text, ret_identity->boot_id);
	}
	if (stat("/proc/self/ns/time", &st) == 0)
		ret_identity->timens_ino = st.st_ino;
}

bool machine_is_known_boot(const uint8_t id[16])
{
	static const uint8_t unknown[16];

	return memcmp(id, unknown, sizeof(unknown)) != 0;
}

void machine_describe(struct vclock_page_config *config)
{
	struct machine_identity identity;
	struct timespec res;

	machine_identify(&identity);
	memcpy(config->boot_id, identity.boot_id, sizeof(config->boot_id));
	config->timens_ino = identity.timens_ino;
	config->writer_pid = (uint32_t)getpid();
	if (clock_getres(CLOCK_REALTIME_COARSE, &res) == 0 && res.tv_sec == 0)
		config->coarse_ns = (uint32_t)res.tv_nsec;
}
