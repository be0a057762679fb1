/* SPDX-License-Identifier: MIT */
/*
 * follow_space.c - see follow_space.h. What is mounted is mounted in a namespace that was just made
 * and after its mounts were found to propagate nowhere: a copy of the loader over a machine's own
 * would reach everybody.
 */
#include "attach/follow_space.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/child.h"
#include "attach/image_arch.h"
#include "attach/image_file.h"
#include "attach/loader_copy.h"
#include "attach/maps.h"
#include "attach/stub.h"
#include "elf/arch/host.h"
#include "image/follow.h"
#include "publish/page_fd.h"

#define LOADERS IMAGE_LOADERS
/* For the child that tries it: it mounts, and copies some MiB. */
#define TRY_MS 10000
#define END_MS 2000
#define FILE_MAX ((size_t)16 << 20)

/* The files of the images' folder: for programs of the loader, of 32 bits, and the code that is
 * added. */
enum { IMAGE_OWN, IMAGE_32, IMAGE_CODE, IMAGES };

struct bytes {
	unsigned char *data; /* NULL: there is no such file */
	size_t size;
};

/* Everything that is read beforehand: the folder of the images is covered later. */
struct plan {
	struct follow_space *space;
	const struct image_arch *arch;
	char folder[PATH_MAX]; /* of the images */
	char loader[LOADERS][PATH_MAX];
	struct bytes copy[LOADERS];
	char image_name[IMAGES][32]; /* empty: there is none */
	struct bytes image[IMAGES];
	bool is_covered[LOADERS];
	unsigned mounts; /* on the folder */
};

/* False: a test wants to see what becomes of it. */
static bool step(const struct plan *plan)
{
	struct follow_space *space = plan->space;

	errno = EIO;
	return space->fail_step == 0 || ++space->steps != space->fail_step;
}

static int fail(struct plan *plan, const char *reason)
{
	int error = errno;

	plan->space->reason = error == EMFILE || error == ENFILE ? "no descriptor" : reason;
	return error != 0 ? -error : -EIO;
}

static struct bytes read_file(const char *path)
{
	struct bytes bytes = {NULL, 0};
	struct stat st;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return bytes;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size < (off_t)FILE_MAX)
		bytes.data = malloc((size_t)st.st_size);
	while (bytes.data != NULL && bytes.size < (size_t)st.st_size) {
		n = read(fd, bytes.data + bytes.size, (size_t)st.st_size - bytes.size);
		if (n <= 0)
			break;
		bytes.size += (size_t)n;
	}
	if (bytes.data != NULL && bytes.size != (size_t)st.st_size) {
		free(bytes.data);
		bytes.data = NULL;
	}
	close(fd);
	return bytes;
}

static bool join(char ret_path[PATH_MAX], const char *folder, const char *name)
{
	return snprintf(ret_path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* The kernel's own vDSO: this process may have started with an image of ours. */
static uint64_t kernels_vdso(void)
{
	char line[512];
	struct maps_line map;
	uint64_t at = 0;
	FILE *file = fopen("/proc/self/maps", "re");

	while (file != NULL && at == 0 && fgets(line, sizeof(line), file) != NULL)
		if (maps_parse(line, strlen(line), &map) == 0 && maps_is_vdso(&map))
			at = map.start;
	if (file != NULL)
		fclose(file);
	return at;
}

static int fill_config(struct plan *plan, struct follow *config)
{
	const struct image_arch *arch = plan->arch;
	const char *page = plan->space->page;
	uint64_t at = kernels_vdso();
	struct vclock_vdso vdso;
	int n;

	memset(config, 0, sizeof(*config));
	if (at == 0 || vclock_vdso_find((const void *)(uintptr_t)at, 0, &vdso) != 0)
		return -ENOENT;
	config->magic = FOLLOW_MAGIC;
	config->is_filtered = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0;
	config->image_size = (uint32_t)plan->image[IMAGE_OWN].size;
	memcpy(config->vdso_head, vdso.elf.image + sizeof(Elf64_Ehdr), FOLLOW_HEAD);
	process_page_fill(&config->process, arch, plan->space->hides_vdso ? NULL : &vdso.elf, 0,
			  process_page_flags());
	n = snprintf(config->page, sizeof(config->page), "%s%s", page != NULL ? page : plan->folder,
		     page != NULL ? "" : "/page");
	if (n >= (int)sizeof(config->page))
		return -ENAMETOOLONG;
	n = snprintf(config->image, sizeof(config->image), "%s/%s", plan->folder,
		     plan->image_name[IMAGE_OWN]);
	return n < (int)sizeof(config->image) ? 0 : -ENAMETOOLONG;
}

/* A copy of a loader, as this makes them: with what fill_config() says. */
static bool is_copy(const struct bytes *loader)
{
	const uint32_t magic = FOLLOW_MAGIC;
	const unsigned char *p = loader->data, *end;
	struct follow config;

	if (p == NULL)
		return false;
	for (end = p + loader->size;; p++) {
		p = memmem(p, (size_t)(end - p), &magic, sizeof(magic));
		if (p == NULL || (size_t)(end - p) < sizeof(config))
			return false;
		memcpy(&config, p, sizeof(config));
		if (config.image[0] == '/' && config.page[0] == '/' && config.image_size != 0)
			return true;
	}
}

static int copy_loaders(struct plan *plan)
{
	const struct bytes *code = &plan->image[IMAGE_CODE];
	struct follow config;
	struct bytes loader;
	unsigned i, count = 0;
	bool is_known;

	if (!step(plan) || fill_config(plan, &config) != 0)
		return fail(plan, "the kernel's vDSO cannot be read");
	is_known = step(plan);
	for (i = 0; is_known && i < LOADERS; i++) {
		if (realpath(plan->arch->loader[i], plan->loader[i]) == NULL)
			continue;
		loader = read_file(plan->loader[i]);
		plan->space->is_followed |= is_copy(&loader);
		if (loader.data != NULL &&
		    loader_copy(plan->arch, loader.data, loader.size, code->data, code->size,
				&config, &plan->copy[i].data, &plan->copy[i].size) == 0)
			count++;
		free(loader.data);
	}
	if (plan->space->is_followed)
		return 0;
	for (i = 0; i < LOADERS; i++)
		if (page_fd_allows(plan->copy[i].size) != 0) {
			errno = EFBIG;
			return fail(plan, "the file size limit does not allow the copies");
		}
	errno = ENOENT;
	return count != 0 ? 0 : fail(plan, "there is no dynamic loader that it knows");
}

/* False: this build does not follow. */
static bool name_images(struct plan *plan)
{
	const struct stub_arch *stub_32 = stub_arch_of(false);
	const size_t size = sizeof(plan->image_name[0]);

	plan->arch = image_arch_of(ELF_HOST_MACHINE, sizeof(void *) == 8);
	if (plan->arch == NULL || plan->arch->loader[0] == NULL)
		return false;
	snprintf(plan->image_name[IMAGE_OWN], size, "vdso-%s.so", plan->arch->name);
	snprintf(plan->image_name[IMAGE_CODE], size, "follow-%s.bin", plan->arch->name);
	if (stub_32 != NULL)
		snprintf(plan->image_name[IMAGE_32], size, "vdso-%s.so",
			 image_arch_of(stub_32->machine, false)->name);
	return true;
}

/* Of this architecture, whole, and such as fill_config() tells it of. */
static bool is_code(const struct plan *plan, const struct bytes *code)
{
	struct follow_mark mark;

	if (code->data == NULL || code->size < sizeof(mark) || code->size % FOLLOW_ALIGN != 0)
		return false;
	memcpy(&mark, code->data + code->size - sizeof(mark), sizeof(mark));
	return mark.mark == FOLLOW_MARK && mark.version == FOLLOW_VERSION &&
	       mark.machine == plan->arch->machine;
}

/* Without its image a 32-bit program is left alone. */
static bool are_images_good(struct plan *plan)
{
	const struct stub_arch *stub_32 = stub_arch_of(false);
	struct bytes *image = &plan->image[IMAGE_OWN], *image_32 = &plan->image[IMAGE_32];

	if (image_32->data != NULL && !image_file_is_good(image_arch_of(stub_32->machine, false),
							  image_32->data, image_32->size)) {
		free(image_32->data);
		image_32->data = NULL;
	}
	errno = ENOEXEC;
	return image_file_is_good(plan->arch, image->data, image->size) &&
	       is_code(plan, &plan->image[IMAGE_CODE]);
}

static int read_plan(struct plan *plan)
{
	char path[PATH_MAX];
	unsigned i;

	if (!name_images(plan))
		return fail(plan, "it cannot be done on this architecture");
	if (!step(plan) || realpath(plan->space->images, plan->folder) == NULL)
		return fail(plan, "the images cannot be opened");
	for (i = 0; i < IMAGES; i++)
		if (plan->image_name[i][0] != '\0' && join(path, plan->folder, plan->image_name[i]))
			plan->image[i] = read_file(path);
	if (!step(plan) || plan->image[IMAGE_OWN].data == NULL ||
	    plan->image[IMAGE_CODE].data == NULL)
		return fail(plan, "the images cannot be opened");
	if (!step(plan) || !are_images_good(plan))
		return fail(plan, "the images are damaged, or none of vclock's");
	return copy_loaders(plan);
}

static void free_plan(struct plan *plan)
{
	unsigned i;

	for (i = 0; i < IMAGES; i++)
		free(plan->image[i].data);
	for (i = 0; i < LOADERS; i++)
		free(plan->copy[i].data);
	free(plan);
}

/*
 * The namespace.
 */

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* With our own user and group in it, and no other. */
static bool enter_user(void)
{
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%u %u 1", geteuid(), geteuid());
	snprintf(groups, sizeof(groups), "%u %u 1", getegid(), getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return false;
	return write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups);
}

/* A mount that is shared has "shared:N" among the fields before the " - ". */
static bool is_any_shared(void)
{
	char *line = NULL, *end;
	size_t size = 0;
	bool is_shared = false;
	FILE *file = fopen("/proc/self/mountinfo", "re");

	if (file == NULL)
		return true;
	while (!is_shared && getline(&line, &size, file) > 0) {
		end = strstr(line, " - ");
		if (end != NULL)
			*end = '\0';
		is_shared = strstr(line, " shared:") != NULL;
	}
	free(line);
	fclose(file);
	return is_shared;
}

static int separate(struct plan *plan)
{
	if (!step(plan))
		return fail(plan, "it may not have a mount namespace of its own");
	if (unshare(CLONE_NEWNS) != 0) {
		if (errno != EPERM || !enter_user())
			return fail(plan, "it may not have a mount namespace of its own");
		plan->space->is_user_ours = true;
	}
	/* What is mounted outside still comes in. */
	if (!step(plan) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0 || is_any_shared())
		return fail(plan, "its root is not a mount point, or /proc is not there");
	return 0;
}

static bool write_file(const struct plan *plan, const char *name, const struct bytes *bytes,
		       mode_t mode)
{
	char path[PATH_MAX];
	bool good;
	int fd;

	if (!step(plan) || !join(path, plan->folder, name))
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return false;
	good = write(fd, bytes->data, bytes->size) == (ssize_t)bytes->size && fchmod(fd, mode) == 0;
	close(fd);
	return good;
}

static bool make_area(struct plan *plan)
{
	struct follow_space *space = plan->space;
	char path[PATH_MAX];

	if (space->page != NULL)
		return true;
	if (!step(plan) || !join(path, plan->folder, "page"))
		return false;
	space->area_fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	space->area_read_fd = open(path, O_RDONLY | O_CLOEXEC);
	return space->area_fd >= 0 && space->area_read_fd >= 0 &&
	       fchmod(space->area_fd, 0444) == 0 &&
	       ftruncate(space->area_fd, (off_t)2 * plan->arch->unit) == 0;
}

static void copy_name(unsigned i, char ret_name[16])
{
	snprintf(ret_name, 16, "loader-%u", i);
}

static bool fill_folder(struct plan *plan)
{
	char name[16];
	unsigned i;

	if (!step(plan) ||
	    mount("vclock", plan->folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=32m") != 0)
		return false;
	plan->mounts++;
	for (i = 0; i < IMAGES; i++)
		if (plan->image[i].data != NULL &&
		    !write_file(plan, plan->image_name[i], &plan->image[i], 0444))
			return false;
	for (i = 0; i < LOADERS; i++) {
		copy_name(i, name);
		if (plan->copy[i].data != NULL && !write_file(plan, name, &plan->copy[i], 0555))
			return false;
	}
	/* Programs see it through a mount that none of them can write to. */
	if (!make_area(plan) || !step(plan) ||
	    mount(plan->folder, plan->folder, NULL, MS_BIND, NULL) != 0)
		return false;
	plan->mounts++;
	return step(plan) &&
	       mount(NULL, plan->folder, NULL,
		     MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) == 0;
}

static bool cover_loaders(struct plan *plan)
{
	char name[16], path[PATH_MAX];
	unsigned i;

	for (i = 0; i < LOADERS; i++) {
		copy_name(i, name);
		if (plan->copy[i].data != NULL &&
		    (!step(plan) || !join(path, plan->folder, name) ||
		     mount(path, plan->loader[i], NULL, MS_BIND, NULL) != 0))
			return false;
		plan->is_covered[i] = plan->copy[i].data != NULL;
	}
	return true;
}

/* In the namespace that was just made, where all of it is ours. */
static void uncover(struct plan *plan)
{
	struct follow_space *space = plan->space;
	unsigned i;

	for (i = 0; i < LOADERS; i++)
		if (plan->is_covered[i])
			(void)umount2(plan->loader[i], MNT_DETACH);
	for (; plan->mounts > 0; plan->mounts--)
		(void)umount2(plan->folder, MNT_DETACH);
	if (space->area_fd >= 0)
		close(space->area_fd);
	if (space->area_read_fd >= 0)
		close(space->area_read_fd);
	space->area_fd = space->area_read_fd = -1;
}

static int enter(struct plan *plan)
{
	int r = separate(plan);

	if (r == 0 && !fill_folder(plan))
		r = fail(plan, "a file system in memory cannot be mounted");
	if (r == 0 && !cover_loaders(plan))
		r = fail(plan, "the dynamic loader cannot be covered");
	if (r != 0)
		uncover(plan);
	return r;
}

/* The reason's text is the same in both processes. */
static int try_in_child(struct plan *plan)
{
	int sockets[2], status, r = -EIO;
	struct {
		int error;
		unsigned steps;
		const char *reason;
	} told = {-EIO, 0, "a process that tries it cannot be started"};
	bool is_there;
	pid_t pid;

	if (!step(plan) || pipe2(sockets, O_CLOEXEC) != 0)
		return fail(plan, "no descriptor");
	pid = step(plan) ? child_start() : -1;
	told.steps = plan->space->steps;
	if (pid == 0) {
		told.error = enter(plan);
		told.steps = plan->space->steps;
		told.reason = plan->space->reason;
		(void)!write(sockets[1], &told, sizeof(told));
		_exit(0);
	}
	close(sockets[1]);
	if (pid > 0) {
		told.reason = "the process that tries it does not get on";
		is_there = child_readable(sockets[0], TRY_MS);
		if (is_there && read(sockets[0], &told, sizeof(told)) == (ssize_t)sizeof(told))
			r = told.error;
		(void)child_end(pid, is_there ? END_MS : 0, &status);
	}
	close(sockets[0]);
	plan->space->steps = told.steps;
	plan->space->reason = told.reason;
	return r;
}

int follow_space_enter(struct follow_space *space)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	int r;

	space->area_fd = space->area_read_fd = -1;
	space->is_user_ours = space->is_followed = false;
	space->steps = 0;
	space->reason = "no memory";
	if (plan == NULL)
		return -ENOMEM;
	plan->space = space;
	r = read_plan(plan);
	if (r == 0 && !space->is_followed) {
		r = try_in_child(plan);
		if (r == 0)
			r = enter(plan);
	}
	free_plan(plan);
	return r;
}
