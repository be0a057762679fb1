# SPDX-License-Identifier: MIT
# Tests inside a virtual machine: Debian's kernels under qemu's TCG, see scripts/vm.
#   make check-vm-i386                   the i386 tests on a real kernel, wherever this runs
#   make ARCH=... LIBC=... check-in-vm   the tests of any build

# The shared libraries of the programs that go into the machine.
VM_LIB_x86_64 := /lib/x86_64-linux-gnu
VM_LIB_i386 := /usr/i686-linux-gnu/lib

# Static, whatever the build is, and without its sanitizers: a machine starts with it.
$(B)/vm/init.o: tests/vm/init.c $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILER) $(CPPFLAGS_ALL) $(TIME64) -std=gnu11 $(WARN_C) $(WARN) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/vm/init: $(B)/vm/init.o
	$(call say,LD,$@)
	$(Q)$(LINKER) -static -o $@ $^

VM_CHECK = scripts/vm/check $(B) $(if $(STATIC),,--lib $(VM_LIB_$(ARCH)))

check-in-vm: tests $(B)/vm/init
	$(VM_CHECK) $(TEST_BIN)

# The same in two steps, for scripts/test: only the machine, then the names of its verdicts.
boot-in-vm: tests $(B)/vm/init
	$(VM_CHECK) --boot $(TEST_BIN)

list-in-vm:
	@printf '%s\n' $(B)/vm/out/machine $(patsubst $(B)/tests/%,$(B)/vm/out/%,$(TEST_BIN))

check-vm-i386:
	$(MAKE) ARCH=i386 check-in-vm

.PHONY: check-in-vm boot-in-vm list-in-vm check-vm-i386
