/* SPDX-License-Identifier: MIT */
/*
 * net.c - puts a test machine onto the wire between two of them:
 *     net MODULES ADDRESS COMMAND [ARGUMENT]...
 *
 * Loads the kernel modules of the folder MODULES, in whatever order they want, gives the first
 * network card ADDRESS (its network is a /24), and becomes COMMAND. Exits 1 with a line where
 * something of that fails, 127 where COMMAND cannot be executed.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CARD "eth0"
/* A module that needs another one waits for it; nothing here is deeper. */
#define PASSES 10
/* A card is there some time after its module. */
#define WAIT_MS 5000

static _Noreturn void fail(const char *what, const char *of)
{
	fprintf(stderr, "net: %s: %s: %s\n", what, of, strerror(errno));
	exit(1);
}

static int load(int folder_fd, const char *name)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -1;
	r = (int)syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return r == 0 || errno == EEXIST ? 0 : -1;
}

/* Returns how many modules could not be loaded; *ret_name is one of them. */
static int load_all(const char *folder, char ret_name[NAME_MAX + 1])
{
	int missing = 0;
	struct dirent *entry;
	DIR *dir = opendir(folder);

	if (dir == NULL)
		fail("cannot open", folder);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || load(dirfd(dir), entry->d_name) == 0)
			continue;
		strcpy(ret_name, entry->d_name);
		missing++;
	}
	closedir(dir);
	return missing;
}

static void request(int fd, unsigned long what, struct ifreq *ifreq, const char *name)
{
	int ms;

	for (ms = 0; ioctl(fd, what, ifreq) != 0; ms += 10) {
		if (errno != ENODEV || ms >= WAIT_MS)
			fail(name, CARD);
		usleep(10000);
	}
}

static void set_address(struct ifreq *ifreq, const char *address)
{
	struct sockaddr_in in = {.sin_family = AF_INET};

	if (inet_pton(AF_INET, address, &in.sin_addr) != 1) {
		errno = EINVAL;
		fail("address", address);
	}
	memcpy(&ifreq->ifr_addr, &in, sizeof(in));
}

static void bring_up(const char *address)
{
	struct ifreq ifreq = {.ifr_name = CARD};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fail("socket", "AF_INET");
	set_address(&ifreq, address);
	request(fd, SIOCSIFADDR, &ifreq, "address");
	set_address(&ifreq, "255.255.255.0");
	request(fd, SIOCSIFNETMASK, &ifreq, "netmask");
	request(fd, SIOCGIFFLAGS, &ifreq, "flags");
	ifreq.ifr_flags |= IFF_UP | IFF_RUNNING;
	request(fd, SIOCSIFFLAGS, &ifreq, "up");
	close(fd);
}

int main(int argc, char **argv)
{
	char name[NAME_MAX + 1] = "";
	int pass, missing = 1;

	if (argc < 4) {
		fprintf(stderr, "usage: net MODULES ADDRESS COMMAND [ARGUMENT]...\n");
		return 2;
	}
	for (pass = 0; pass < PASSES && missing > 0; pass++)
		missing = load_all(argv[1], name);
	if (missing > 0)
		fail("cannot load", name);
	bring_up(argv[2]);
	execvp(argv[3], &argv[3]);
	fprintf(stderr, "net: %s: %s\n", argv[3], strerror(errno));
	return 127;
}
