# SPDX-License-Identifier: MIT
# vclock: GNU make without configure. See `make help`.

SHELL := bash
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:

VERSION := 0.1.0

# V=1 shows whole commands.
V ?= 0
Q := $(if $(filter 0,$(V)),@)
say = $(if $(Q),@echo '  $1	$2')

# What to build for, and with what. Each combination has a build folder of its own.
NATIVE := $(shell uname -m)
ARCH ?= $(NATIVE)
LIBC ?= glibc
SAN ?=
ifeq ($(origin CC),default)
CC := gcc
endif

include mk/toolchain.mk

PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
UNITDIR ?= $(PREFIX)/lib/systemd/system

all: lib cli examples images

include mk/build.mk
include mk/image.mk
include mk/test.mk
include mk/fuzz.mk
include mk/vm.mk
include mk/install.mk
include mk/lint.mk

help:
	@echo 'make                        library, tools and examples into $(B)/'
	@echo 'make check                  the tests of one build, in two minutes or less'
	@echo 'make check-tree             the tests of the sources, and of lint and runner'
	@echo 'make check-long             the tests with the large counts'
	@echo 'make fuzz                   the fuzz targets, FUZZ_SECONDS each (needs clang)'
	@echo 'make check-vm-i386          the i386 tests in a virtual machine'
	@echo 'make check-vm               other kernels, clocksources and what happens to clocks'
	@echo 'make lint                   format, include levels, static analysis, man pages'
	@echo 'make install DESTDIR=...    PREFIX=$(PREFIX)'
	@echo 'ARCH=x86_64|i386|aarch64|riscv64  LIBC=glibc|musl  CC=gcc|clang  SAN=address,undefined  V=1'

clean:
	rm -rf build

.PHONY: all help clean
