# SPDX-License-Identifier: MIT
# From ARCH, LIBC, CC and SAN: compiler command, flags and build folder.

ARCHES := x86_64 i386
ifeq ($(filter $(ARCH),$(ARCHES)),)
$(error ARCH=$(ARCH): not one of $(ARCHES))
endif
ifeq ($(filter $(LIBC),glibc musl),)
$(error LIBC=$(LIBC): not one of glibc musl)
endif
ifeq ($(LIBC)-$(ARCH),musl-i386)
$(error LIBC=musl is built for x86_64 only)
endif
ifneq ($(if $(SAN),$(LIBC)),$(if $(SAN),glibc))
$(error SAN=$(SAN): sanitizers need glibc)
endif

CC_KIND := $(if $(findstring clang,$(notdir $(CC))),clang,gcc)

# The triple's compilers; clang borrows the cross gcc's headers and libraries.
TRIPLE_x86_64 := x86_64-linux-gnu
TRIPLE_i386 := i686-linux-gnu
TRIPLE := $(TRIPLE_$(ARCH))

COMPILER := $(CC)
CXX := $(if $(filter clang,$(CC_KIND)),clang++,g++)
CXX_COMPILER := $(CXX)
ifneq ($(ARCH),$(NATIVE))
ifeq ($(CC_KIND),clang)
COMPILER := $(CC) --target=$(TRIPLE) -isystem /usr/$(TRIPLE)/include
CXX_COMPILER := $(CXX) --target=$(TRIPLE) -isystem /usr/$(TRIPLE)/include
else
COMPILER := $(TRIPLE)-gcc
CXX_COMPILER := $(TRIPLE)-g++
endif
endif
MUSL_LDFLAGS :=
ifeq ($(LIBC),musl)
ifeq ($(CC_KIND),clang)
MUSL := /usr/lib/x86_64-linux-musl
COMPILER := $(CC) --target=x86_64-linux-musl -nostdinc -isystem /usr/include/x86_64-linux-musl \
	-isystem $(shell $(CC) -print-resource-dir)/include
else
COMPILER := musl-gcc
endif
endif

# The CLI's libraries are at hand for the machine's own architecture and glibc only; elsewhere the
# same tools are built with plain aligned text (src/cli/table.c).
HAS_LIBS := $(if $(filter $(NATIVE)-glibc,$(ARCH)-$(LIBC)),1)

B := build/$(ARCH)$(if $(filter musl,$(LIBC)),-musl)$(if $(filter clang,$(CC_KIND)),-clang)$(if $(SAN),-san)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wundef -Wwrite-strings -Wvla -Werror
# Levels 0 and 1 (design: the ABI, the hot path, the arithmetic, the ELF reader) narrow explicitly.
WARN_STRICT := -Wconversion
CPPFLAGS_ALL := -Iinclude -Isrc -D_GNU_SOURCE -DVCLOCK_VERSION='"$(VERSION)"' $(CPPFLAGS)
CFLAGS ?= -O2 -g
CFLAGS_ALL := -std=gnu11 $(WARN) -fvisibility=hidden -fno-strict-overflow -pthread $(CFLAGS)
LDFLAGS_ALL := -pthread $(LDFLAGS)
ifneq ($(SAN),)
CFLAGS_ALL += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS_ALL += -fsanitize=$(SAN)
endif
ifeq ($(ARCH),i386)
# SSE2 brings LFENCE; the counter is not used on a CPU without it.
CFLAGS_ALL += -march=i686
endif
