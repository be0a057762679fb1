# SPDX-License-Identifier: MIT
# From ARCH, LIBC, CC and SAN: compiler commands, flags and the build folder.

ARCHES := x86_64 i386 aarch64 riscv64
# Debian has their C library for cross builds, and nothing else: static programs.
ARCHES_STATIC := aarch64 riscv64
ifeq ($(filter $(ARCH),$(ARCHES)),)
$(error ARCH=$(ARCH): not one of $(ARCHES))
endif
ifeq ($(filter $(LIBC),glibc musl),)
$(error LIBC=$(LIBC): not one of glibc musl)
endif
ifneq ($(if $(filter musl,$(LIBC)),$(ARCH)),$(if $(filter musl,$(LIBC)),x86_64))
$(error LIBC=musl is built for x86_64 only)
endif
ifneq ($(if $(SAN),$(filter $(ARCHES_STATIC),$(ARCH))),)
$(error SAN=$(SAN): there are no sanitizers for static programs of $(ARCH))
endif
ifneq ($(if $(SAN),$(LIBC)),$(if $(SAN),glibc))
$(error SAN=$(SAN): sanitizers need glibc)
endif

CC_KIND := $(if $(findstring clang,$(notdir $(CC))),clang,gcc)
TRIPLE_x86_64 := x86_64-linux-gnu
TRIPLE_i386 := i686-linux-gnu
TRIPLE_aarch64 := aarch64-linux-gnu
TRIPLE_riscv64 := riscv64-linux-gnu
TRIPLE := $(TRIPLE_$(ARCH))

# Compiling C and C++, and linking. clang borrows the cross gcc's headers and libraries.
COMPILER := $(CC)
CXX_COMPILER := $(if $(filter clang,$(CC_KIND)),$(subst clang,clang++,$(CC)),$(subst gcc,g++,$(CC)))
ifneq ($(ARCH),$(NATIVE))
ifeq ($(CC_KIND),clang)
COMPILER += --target=$(TRIPLE) -isystem /usr/$(TRIPLE)/include
CXX_COMPILER += --target=$(TRIPLE) -isystem /usr/$(TRIPLE)/include
# What clang itself does not notice missing until it links.
NEEDS := $(TRIPLE)-gcc
else
COMPILER := $(TRIPLE)-gcc
CXX_COMPILER := $(TRIPLE)-g++
endif
endif
LINKER := $(COMPILER)
# What a C++ program says of headers and model does not hang on the machine.
ifneq ($(filter-out $(NATIVE),$(filter $(ARCHES_STATIC),$(ARCH))),)
CXX_COMPILER :=
endif

# musl: the C library's own gcc wrapper links for clang too.
MUSL_COMPILER := musl-gcc
ifeq ($(CC_KIND),clang)
MUSL_COMPILER := $(CC) -nostdinc -isystem /usr/include/x86_64-linux-musl \
	-isystem $(shell $(CC) -print-resource-dir 2>/dev/null)/include
endif
ifeq ($(LIBC),musl)
LINKER := musl-gcc
COMPILER := $(MUSL_COMPILER)
CXX_COMPILER :=
NEEDS := musl-gcc
endif

B := build/$(ARCH)$(if $(filter musl,$(LIBC)),-musl)$(if $(filter clang,$(CC_KIND)),-clang)
comma := ,
ifneq ($(SAN),)
B := $(B)-$(if $(filter address$(comma)undefined,$(SAN)),san,$(subst $(comma),-,$(SAN)))
endif

# The CLI's libraries are at hand for the machine's own architecture and glibc only; elsewhere the
# same tools are built with plain aligned text (src/cli/table.c).
HAS_LIBS := $(if $(filter $(NATIVE)-glibc,$(ARCH)-$(LIBC)),1)

# `vclock` itself, the front (src/front): a static program, so that `vclock run` starts fast. glibc's
# start-up asks CPUID some 40 times, also in a static program, and in a virtual machine each of them
# is an exit; musl's asks nothing. So in the native build of glibc the front alone is made with musl,
# in a folder of its own; where musl is not at hand, and with sanitizers, by what makes the rest.
FRONT_LINKER := $(if $(filter x86_64-x86_64-glibc-,$(NATIVE)-$(ARCH)-$(LIBC)-$(SAN)),$(if \
	$(shell command -v musl-gcc),musl-gcc))
FRONT_COMPILER := $(if $(FRONT_LINKER),$(MUSL_COMPILER))

# A compiler that is missing is an error here and now, not a cell less.
BUILDS := $(if $(MAKECMDGOALS),$(filter-out clean help lint lint-% list-% uninstall,$(MAKECMDGOALS)),all)
ifneq ($(BUILDS),)
$(foreach tool,$(firstword $(COMPILER)) $(NEEDS),$(if $(shell command -v $(tool)),,\
	$(error $(tool) is missing, which ARCH=$(ARCH) LIBC=$(LIBC) CC=$(CC) needs: \
	run scripts/install-deps)))
ifneq ($(filter musl-gcc,$(LINKER) $(FRONT_LINKER)),)
# musl brings no kernel headers: the three folders of the machine's own, and nothing of glibc.
KERNEL_HEADERS := $(B)/kernel-headers
$(shell mkdir -p $(KERNEL_HEADERS) && cd $(KERNEL_HEADERS) && ln -sfn /usr/include/linux linux && \
	ln -sfn /usr/include/asm-generic asm-generic && \
	ln -sfn /usr/include/x86_64-linux-gnu/asm asm)
$(if $(filter musl,$(LIBC)),COMPILER,FRONT_COMPILER) += -isystem $(KERNEL_HEADERS)
endif
endif

WARN_C := -Wstrict-prototypes -Wmissing-prototypes
WARN := -Wall -Wextra -Wshadow -Wpointer-arith -Wundef -Wwrite-strings -Wvla -Werror
# Levels 0 and 1 (design: the ABI, the hot path, the arithmetic, the ELF reader) narrow explicitly.
WARN_STRICT := -Wconversion
CPPFLAGS_ALL := -Iinclude -Isrc -D_GNU_SOURCE -DVCLOCK_VERSION='"$(VERSION)"' $(CPPFLAGS)
ifeq ($(ARCH),i386)
# Directories with 64-bit offsets and inode numbers above 32 bits can be read; the width of time_t is
# another matter.
CPPFLAGS_ALL += -D_FILE_OFFSET_BITS=64
endif
CFLAGS ?= -O2 -g
CXXFLAGS ?= $(CFLAGS)
FLAGS_BOTH := $(WARN) -fvisibility=hidden -fno-strict-overflow -pthread
LDFLAGS_ALL := -pthread
# musl programs are static; the others take the C library as it comes.
STATIC := $(if $(filter musl,$(LIBC))$(filter-out $(NATIVE),$(filter $(ARCHES_STATIC),$(ARCH))),-static)
ifneq ($(SAN),)
FLAGS_BOTH += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS_ALL += -fsanitize=$(SAN)
ifeq ($(CC_KIND)-$(ARCH),gcc-i386)
# The cross libraries lie where the loader does not look.
LDFLAGS_ALL += -static-libasan -static-libubsan
endif
endif
ifeq ($(ARCH),i386)
# SSE2 brings LFENCE; the counter is not used on a CPU without it.
FLAGS_BOTH += -march=i686
endif
CFLAGS_ALL := -std=gnu11 $(WARN_C) $(FLAGS_BOTH) $(CFLAGS)
CXXFLAGS_ALL := -std=c++11 $(FLAGS_BOTH) $(CXXFLAGS)
LDFLAGS_ALL += $(LDFLAGS)
