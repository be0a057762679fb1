# SPDX-License-Identifier: MIT
# The vDSO images: one for each architecture in every build, whatever ARCH, LIBC and SAN are. Those
# of other machines than this one are made where there is a compiler for them.
#   make images    build/images/vdso-<arch>.so; build/images-clang/ with CC=clang
# Add an architecture here when it has a counter (include/vclock/arch), an arch/image_<arch>.h and
# .map, and a row in src/check/image_check.c.

IMAGE_ARCHES_OWN := $(if $(filter x86_64,$(NATIVE)),x86_64 i386,$(NATIVE))
IMAGE_ARCHES_MORE := $(filter-out $(IMAGE_ARCHES_OWN),x86_64 i386 aarch64 riscv64)
IMAGE_B := build/images$(if $(filter clang,$(CC_KIND)),-clang)
IMAGE_TRIPLE_x86_64 := x86_64-linux-gnu
IMAGE_TRIPLE_i386 := i686-linux-gnu
IMAGE_TRIPLE_aarch64 := aarch64-linux-gnu
IMAGE_TRIPLE_riscv64 := riscv64-linux-gnu
ifeq ($(CC_KIND),clang)
image-compiler = $(CC) --target=$(IMAGE_TRIPLE_$1)
else
image-compiler = $(if $(filter $(NATIVE),$1),gcc,$(IMAGE_TRIPLE_$1)-gcc)
endif

# clang needs the linker of the cross gcc.
IMAGE_ARCHES_MADE := $(foreach a,$(IMAGE_ARCHES_MORE),$(if $(shell command -v $(IMAGE_TRIPLE_$a)-gcc),$a))
IMAGE_ARCHES := $(IMAGE_ARCHES_OWN) $(IMAGE_ARCHES_MADE)
IMAGES := $(IMAGE_ARCHES:%=$(IMAGE_B)/vdso-%.so)

# No stack protector, no landing pads but on aarch64, no tables for switches: nothing that needs data
# or probes the stack. Every instruction has unwind information. General registers only, so that the
# stack needs no more alignment than a word.
IMAGE_CFLAGS := -std=gnu11 $(WARN) -O2 -ffreestanding -fno-builtin -fvisibility=hidden \
	-fno-stack-protector -fno-jump-tables -fasynchronous-unwind-tables -fno-strict-overflow \
	-fomit-frame-pointer -fno-common -fno-tree-vectorize
IMAGE_ALIGN = $(if $(filter clang,$(CC_KIND)),-mstack-alignment=$1,-mpreferred-stack-boundary=$2)
IMAGE_CFLAGS_x86_64 := -fPIC -mgeneral-regs-only -fcf-protection=none $(call IMAGE_ALIGN,8,3)
# i386 has a way of its own to reach addresses, see arch/image_i386.h.
IMAGE_CFLAGS_i386 := -fno-pic -march=i686 -mgeneral-regs-only -fcf-protection=none \
	$(call IMAGE_ALIGN,4,2)
IMAGE_CFLAGS_aarch64 := -fPIC -mgeneral-regs-only -mbranch-protection=bti
IMAGE_CFLAGS_riscv64 := -fPIC -mcmodel=medany

IMAGE_LDFLAGS := -shared -nostdlib -Wl,--hash-style=both -Wl,--no-undefined -Wl,--eh-frame-hdr \
	-Wl,--build-id=sha1 -Wl,-z,noexecstack -Wl,--orphan-handling=error -Wl,-S
IMAGE_LDFLAGS_x86_64 := -Wl,-soname,linux-vdso.so.1 -Wl,-z,max-page-size=4096
IMAGE_LDFLAGS_i386 := -Wl,-soname,linux-gate.so.1 -Wl,-z,max-page-size=4096 \
	-Wl,-e,__kernel_vsyscall
IMAGE_LDFLAGS_aarch64 := -Wl,-soname,linux-vdso.so.1 -Wl,-z,max-page-size=65536
IMAGE_LDFLAGS_riscv64 := -Wl,-soname,linux-vdso.so.1 -Wl,-z,max-page-size=4096

IMAGE_UNIT_x86_64 := PROCESS_UNIT_X86
IMAGE_UNIT_i386 := PROCESS_UNIT_X86
IMAGE_UNIT_aarch64 := PROCESS_UNIT_AARCH64
IMAGE_UNIT_riscv64 := PROCESS_UNIT_RISCV64

# Words of a GOT that a linker always makes, for itself.
IMAGE_RESERVED_x86_64 := 0
IMAGE_RESERVED_i386 := 0
IMAGE_RESERVED_aarch64 := 32
IMAGE_RESERVED_riscv64 := 24

IMAGE_OBJ := $(IMAGE_B)/obj

$(IMAGE_OBJ)/%.o: src/image/image.c mk/image.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(call image-compiler,$*) -Iinclude -Isrc -DIMAGE_ARCH_H='"image/arch/image_$*.h"' \
		$(IMAGE_CFLAGS) $(IMAGE_CFLAGS_$*) -MMD -MP -c -o $@ $<

$(IMAGE_OBJ)/%.lds: src/image/image.lds src/image/process_page.h mk/image.mk
	@mkdir -p $(@D)
	$(call say,CPP,$@)
	$(Q)$(call image-compiler,$*) -E -P -x c -Isrc -D__ASSEMBLER__ \
		-DIMAGE_UNIT=$(IMAGE_UNIT_$*) -DIMAGE_RESERVED=$(IMAGE_RESERVED_$*) -o $@ $<

# The rule's last step writes the image only when it is right.
$(IMAGE_B)/vdso-%.so: $(IMAGE_OBJ)/%.o $(IMAGE_OBJ)/%.lds src/image/arch/image_%.map \
		$(IMAGE_B)/link_rule
	$(call say,IMAGE,$@)
	$(Q)$(call image-compiler,$*) $(IMAGE_LDFLAGS) $(IMAGE_LDFLAGS_$*) \
		-Wl,-T,$(IMAGE_OBJ)/$*.lds -Wl,--version-script,src/image/arch/image_$*.map \
		-o $(IMAGE_OBJ)/$*.linked $<
	$(Q)$(IMAGE_B)/link_rule $(IMAGE_OBJ)/$*.linked $@

# Runs on the building machine.
LINK_RULE_SRC := src/image/host/link_rule.c src/cli/image_code.c src/check/image_check.c \
	src/check/image_unwind.c src/elf/elf_image.c src/elf/elf_error.c
$(IMAGE_B)/link_rule: $(LINK_RULE_SRC) src/check/image_check.h src/check/image_unwind.h \
		src/cli/image_code.h src/image/process_page.h
	@mkdir -p $(@D)
	$(call say,HOSTCC,$@)
	$(Q)gcc -Iinclude -Isrc -D_GNU_SOURCE -DVCLOCK_HAS_LIBS=1 -std=gnu11 $(WARN) -O1 -o $@ \
		$(LINK_RULE_SRC) -lcapstone

# What goes into a copy of the dynamic loader for `vclock run --follow`: a flat file.
FOLLOW_ARCHES := $(filter x86_64 aarch64 riscv64,$(IMAGE_ARCHES))
# It is linked at address 0 and lies elsewhere: addresses near 0 are no shorter way to its symbols.
FOLLOW_LDFLAGS_riscv64 := -Wl,--no-relax
FOLLOWS := $(FOLLOW_ARCHES:%=$(IMAGE_B)/follow-%.bin)

$(IMAGE_OBJ)/follow_%.o: src/image/follow.c mk/image.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(call image-compiler,$*) -Iinclude -Isrc -DFOLLOW_ARCH_H='"image/arch/follow_$*.h"' \
		$(IMAGE_CFLAGS) $(IMAGE_CFLAGS_$*) -fno-asynchronous-unwind-tables \
		$(if $(filter gcc,$(CC_KIND)),-fno-tree-loop-distribute-patterns) -MMD -MP -c -o $@ $<

$(IMAGE_OBJ)/follow.lds: src/image/follow.lds src/image/follow.h src/image/process_page.h mk/image.mk
	@mkdir -p $(@D)
	$(Q)$(call image-compiler,$(NATIVE)) -E -P -x c -Isrc -D__ASSEMBLER__ -o $@ $<

$(IMAGE_B)/follow-%.bin: $(IMAGE_OBJ)/follow_%.o $(IMAGE_OBJ)/follow.lds
	$(call say,FOLLOW,$@)
	$(Q)$(call image-compiler,$*) -nostdlib -static -Wl,--no-undefined -Wl,--build-id=none \
		-Wl,--orphan-handling=error $(FOLLOW_LDFLAGS_$*) -Wl,-T,$(IMAGE_OBJ)/follow.lds -o $(IMAGE_OBJ)/follow-$*.linked $<
	$(Q)$(if $(filter $(NATIVE),$*),,$(IMAGE_TRIPLE_$*)-)objcopy -O binary $(IMAGE_OBJ)/follow-$*.linked $@

images: $(IMAGES) $(FOLLOWS)
	$(if $(filter-out $(IMAGE_ARCHES_MADE),$(IMAGE_ARCHES_MORE)),@echo \
		'  NONE	no image without its compiler: $(foreach a,$(filter-out \
		$(IMAGE_ARCHES_MADE),$(IMAGE_ARCHES_MORE)),$(IMAGE_TRIPLE_$a)-gcc)',@true)

install: install-images
install-images: $(IMAGES) $(FOLLOWS)
	$(if $(filter-out $(IMAGE_ARCHES_MADE),$(IMAGE_ARCHES_MORE)),@echo \
		'  NONE	no image without its compiler: $(foreach a,$(filter-out \
		$(IMAGE_ARCHES_MADE),$(IMAGE_ARCHES_MORE)),$(IMAGE_TRIPLE_$a)-gcc)',@true)
	install -d $(DESTDIR)$(LIBDIR)/vclock
	install -m 644 $(IMAGES) $(FOLLOWS) $(DESTDIR)$(LIBDIR)/vclock/

-include $(wildcard $(IMAGE_OBJ)/*.d)

.PHONY: images install-images
