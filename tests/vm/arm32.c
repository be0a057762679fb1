/* SPDX-License-Identifier: MIT */
/*
 * arm32.c - makes a 32-bit program for ARM, which exits with 7, and executes a command with its
 * path as the last argument: arm32 COMMAND [ARGUMENT]...
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define ADDRESS 0x10000
#define ARGUMENTS_MAX 32

static const struct {
	Elf32_Ehdr ehdr;
	Elf32_Phdr phdr;
	uint32_t code[3];
} program = {
	.ehdr = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
		 .e_type = ET_EXEC,
		 .e_machine = EM_ARM,
		 .e_version = EV_CURRENT,
		 .e_entry = ADDRESS + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
		 .e_phoff = sizeof(Elf32_Ehdr),
		 .e_flags = EF_ARM_EABI_VER5,
		 .e_ehsize = sizeof(Elf32_Ehdr),
		 .e_phentsize = sizeof(Elf32_Phdr),
		 .e_phnum = 1},
	.phdr = {.p_type = PT_LOAD,
		 .p_vaddr = ADDRESS,
		 .p_filesz = sizeof(program),
		 .p_memsz = sizeof(program),
		 .p_flags = PF_R | PF_X,
		 .p_align = 4096},
	/* mov r0, #7; mov r7, #1 (exit); svc 0 */
	.code = {0xe3a00007, 0xe3a07001, 0xef000000},
};

int main(int argc, char **argv)
{
	static char path[] = "/tmp/arm32";
	char *command[ARGUMENTS_MAX + 2];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755), i;

	if (argc < 2 || argc > ARGUMENTS_MAX || fd < 0 ||
	    write(fd, &program, sizeof(program)) != (ssize_t)sizeof(program) || close(fd) != 0)
		return perror(path), 2;
	for (i = 1; i < argc; i++)
		command[i - 1] = argv[i];
	command[argc - 1] = path;
	command[argc] = NULL;
	execvp(command[0], command);
	return perror(command[0]), 127;
}
