# SPDX-License-Identifier: MIT
# Tests inside a virtual machine: Debian's kernels under qemu's TCG, see scripts/vm.
#   make check-vm-i386                   the i386 tests on a real kernel, wherever this runs
#   make ARCH=... LIBC=... check-in-vm   the tests of any build
#   make check-vm [MACHINES="NAME ..."]  the machines of tests/vm/machines
#   make vm-table                        what they said, into docs/testing.md

# The shared libraries of the programs that go into the machine.
VM_LIB_x86_64 := /lib/x86_64-linux-gnu
VM_LIB_i386 := /usr/i686-linux-gnu/lib
VM_STRIP := $(if $(filter aarch64 riscv64,$(ARCH)),$(TRIPLE)-strip,strip)

# Static, whatever the build is, and without its sanitizers: a machine starts with it, and needs
# nothing else for the programs of tests/vm.
VM_NAMES := expect says scenario guest woken cost net steps arm32 lacks
VM_PROGRAMS := $(B)/vm/init $(VM_NAMES:%=$(B)/vm/%) $(B)/vm/vclock $(B)/vm/vclock-tools $(B)/vm/vclockd $(if $(filter musl,$(LIBC)),,$(B)/vm/guest-dynamic)
VM_PARTS := $(patsubst tests/vm/%.c,$(B)/vm/%.o,\
	$(filter-out $(patsubst %,tests/vm/%.c,init $(VM_NAMES)),$(wildcard tests/vm/*.c)))

$(B)/vm/%.o: tests/vm/%.c $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILER) $(CPPFLAGS_ALL) -Itests $(TIME64) -std=gnu11 $(WARN_C) $(WARN) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/vm/init: $(B)/vm/init.o
	$(call say,LD,$@)
	$(Q)$(LINKER) -static -o $@ $^

$(VM_NAMES:%=$(B)/vm/%): $(B)/vm/%: $(B)/vm/%.o $(VM_PARTS) $(B)/libvclock.a
	$(call say,LD,$@)
	$(Q)$(LINKER) $(LDFLAGS_ALL) -static -o $@ $^

# The same with a loader.
$(B)/vm/guest-dynamic: $(B)/vm/guest.o $(VM_PARTS) $(B)/libvclock.a
	$(call say,LD,$@)
	$(Q)$(LINKER) $(LDFLAGS_ALL) -o $@ $^

# The programs that are as their build is.
$(B)/vm/vclock $(B)/vm/vclock-tools $(B)/vm/vclockd: $(B)/vm/%: $(B)/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

-include $(wildcard $(B)/vm/*.d)

VM_CHECK = scripts/vm/check $(B) $(ARCH) $(if $(STATIC),,--lib $(VM_LIB_$(ARCH))) --strip $(VM_STRIP)

check-in-vm: tests $(B)/vm/init
	$(VM_CHECK) $(TEST_BIN)

# In two steps, for scripts/test, and only what needs the kernel: first the machine; then the names of its
# verdicts, and of the tests that run without it.
boot-in-vm: tests $(B)/vm/init
	$(VM_CHECK) --boot $(NEED_KERNEL)

list-in-vm:
	@printf '%s\n' $(B)/vm/out/machine $(NEED_KERNEL:$(B)/tests/%=$(B)/vm/out/%) $(filter-out $(NEED_KERNEL),$(TESTS))

check-vm-i386:
	$(MAKE) ARCH=i386 check-in-vm

vm-programs: $(VM_PROGRAMS)

# musl: static programs, and the tools with plain text.
all-vm-programs: images
	$(MAKE) LIBC=musl vm-programs
	$(MAKE) ARCH=i386 vm-programs
	$(MAKE) ARCH=aarch64 vm-programs
	$(MAKE) ARCH=riscv64 vm-programs

check-vm: all-vm-programs
	scripts/vm/matrix $(MACHINES)

# The same in steps, for scripts/test: the downloads, the machines, the names of their verdicts.
fetch-vm:
	scripts/vm/matrix --fetch $(MACHINES)

boot-vm: all-vm-programs
	scripts/vm/matrix --boot $(MACHINES)

list-vm:
	@cat build/vm/out/results

# After check-vm: its figures into docs/testing.md.
vm-table:
	scripts/vm/table --write docs/testing.md

.PHONY: check-in-vm boot-in-vm list-in-vm check-vm-i386 vm-programs all-vm-programs check-vm fetch-vm boot-vm \
	list-vm vm-table
