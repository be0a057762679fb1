/* SPDX-License-Identifier: MIT */
/* private_page.c - see private_page.h. */
#include "attach/private_page.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/image_arch.h"
#include "elf/arch/host.h"
#include "publish/machine.h"
#include "publish/page_fd.h"
#include "publish/publisher.h"
#include "publish/watch.h"
#include "vclock/counter.h"

#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW 4
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

#define SIZE (2 * unit())
#define NSEC_PER_SEC UINT64_C(1000000000)
/* The kernel's list of clocksources is looked at once in 100 ms. */
#define IDLE_NS UINT64_C(100000000)

/* Of this machine's images. */
static size_t unit(void)
{
	return image_arch_of(ELF_HOST_MACHINE, sizeof(void *) == 8)->unit;
}

/* Before 6.3 kernels do not know the flag, and their files are executable. */
static int make_memfd(void)
{
	int fd = memfd_create("vclock-page", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("vclock-page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd;
}

static void fill(struct private_page *page, int fd, void *memory)
{
	page->fd = fd;
	page->page = memory;
	page->process = (struct process_page *)(void *)((unsigned char *)memory + unit());
}

int private_page_open(struct private_page *ret_page)
{
	int fd = page_fd_allows(SIZE), error;
	void *memory = MAP_FAILED;

	if (fd < 0)
		return fd;
	fd = page_fd_keep(make_memfd());
	if (fd < 0)
		return fd;
	/* A memfd is made 0777: whoever is passed it could open it again for writing. */
	if (fchmod(fd, 0444) == 0 && ftruncate(fd, (off_t)SIZE) == 0)
		memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE) != 0) {
		error = errno;
		if (memory != MAP_FAILED)
			munmap(memory, SIZE);
		close(fd);
		return -error;
	}
	fill(ret_page, fd, memory);
	return 0;
}

int private_page_adopt(int fd, struct private_page *ret_page)
{
	void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	fill(ret_page, fd, memory);
	return 0;
}

void private_page_close(struct private_page *page)
{
	munmap(page->page, SIZE);
	close(page->fd);
}

const char *private_page_refusal(bool trusts_counter)
{
	static struct trust trust;

	if (trusts_counter)
		return NULL;
	trust_read(NULL, &trust);
	return trust.verdict == VCLOCK_TRUST_NEVER ? trust.reason : NULL;
}

static uint64_t now_ns(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void settings(const struct watch *watch, bool trusts_counter,
		     struct publisher_config *ret_config)
{
	memset(ret_config, 0, sizeof(*ret_config));
	machine_describe(&ret_config->page);
	ret_config->page.counter_kind = VCLOCK_COUNTER_KIND;
	if (trusts_counter && watch->trust.verdict == VCLOCK_TRUST_NEVER)
		ret_config->page.flags = VCLOCK_PAGE_TRUST_OVERRIDDEN;
	ret_config->counter_is_clocksource = watch_counter_is_clocksource(watch);
}

/* True when the process has ended, or when that cannot be told: under a seccomp filter for one. */
static bool wait_for(int pidfd, uint64_t ns)
{
	struct pollfd pollfd = {.fd = pidfd, .events = POLLIN};
	struct timespec timeout = {.tv_sec = (time_t)(ns / NSEC_PER_SEC),
				   .tv_nsec = (long)(ns % NSEC_PER_SEC)};
	int n = ppoll(&pollfd, 1, &timeout, NULL);

	return n > 0 || (n < 0 && errno != EINTR);
}

/* Never returns but when the process has ended, or the page is over for good. */
static enum vclock_retired keep(struct publisher *publisher, struct watch *watch, int pidfd)
{
	enum vclock_retired reason;
	enum watch_state state;
	uint64_t sleep_ns;

	for (;;) {
		state = watch_check(watch, now_ns());
		if (state == WATCH_FORBIDDEN)
			return VCLOCK_RETIRED_CLOCKSOURCE;
		publisher->is_held = state != WATCH_ALLOWED;
		publisher->config.counter_is_clocksource = watch_counter_is_clocksource(watch);
		if (publisher_step(publisher, &sleep_ns, &reason) != 0)
			return reason;
		if (wait_for(pidfd, sleep_ns < IDLE_NS ? sleep_ns : IDLE_NS))
			return VCLOCK_RETIRED_STOPPED;
	}
}

void private_page_keep(const struct private_page *page, int pidfd, bool trusts_counter)
{
	struct publisher_config config;
	struct publisher publisher;
	struct watch watch;

	watch_init(&watch, NULL, trusts_counter, now_ns());
	settings(&watch, trusts_counter, &config);
	if (publisher_init(&publisher, reference_kernel(), page->page, &config) == 0)
		publisher_retire(&publisher, keep(&publisher, &watch, pidfd));
}
