# SPDX-License-Identifier: MIT
# Objects, library, tools, examples.

# Levels 0 and 1 of the design.
STRICT_DIRS := keeper elf
LIB_DIRS := keeper elf reference publish lib

LIB_SRC := $(foreach d,$(LIB_DIRS),$(wildcard src/$(d)/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o)
TOOL_SRC := $(foreach d,message measure check attach,$(wildcard src/$(d)/*.c))
TOOL_OBJ := $(TOOL_SRC:%.c=$(B)/obj/%.o)
CLI_SRC := $(wildcard src/cli/*.c)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/obj/%.o)
# Of the library only what has no constructor: nothing may run before the front knows what to do.
FRONT_SRC := $(foreach d,front message attach keeper elf reference publish,$(wildcard src/$(d)/*.c)) \
	$(patsubst %,src/cli/%.c,cli output own_files page_words) src/lib/strings.c
FRONT_OBJ := $(FRONT_SRC:%.c=$(B)/$(if $(FRONT_LINKER),front,obj)/%.o)
DAEMON_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard src/daemon/*.c src/message/*.c))
EXAMPLE_SRC := $(wildcard examples/*.c)
EXAMPLES := $(EXAMPLE_SRC:examples/%.c=$(B)/examples/%)

HAS_SO := $(if $(STATIC),,$(if $(wildcard src/lib/*.c),1))
CLI_CPPFLAGS := -DVCLOCK_HAS_LIBS=$(if $(HAS_LIBS),1,0) -DVCLOCK_HAS_SO=$(if $(HAS_SO),1,0)
DAEMON_LIBS := $(if $(HAS_LIBS),-lseccomp)
# capstone has 78,000 pointers in its tables, which a shared library or a program that can be
# anywhere would have to adjust at every start.
CLI_LIBS := $(if $(HAS_LIBS),-no-pie -lsmartcols -l:libjson-c.a -l:libcapstone.a)

# Our own code has 64-bit time on 32-bit machines too; programs that use the headers choose.
TIME64 := $(if $(filter i386,$(ARCH)),-D_TIME_BITS=64)

lib: $(B)/libvclock.a $(if $(HAS_SO),$(B)/libvclock.so.0)
cli: $(B)/vclock $(B)/vclock-tools $(B)/vclockd
examples: $(EXAMPLES)

# Time calls promise to need little of their caller's stack. On i386 clang pads each frame to 16
# bytes, which only SSE needs: neither this code nor what it calls has any.
ifeq ($(ARCH)-$(CC_KIND),i386-clang)
$(patsubst %,$(B)/obj/src/lib/%.o,clock miss stamp): CFLAGS_ALL += -mstack-alignment=4
endif
# On aarch64 compilers keep frame pointers, which take 16 bytes of each frame.
ifeq ($(ARCH),aarch64)
$(LIB_OBJ): CFLAGS_ALL += -fomit-frame-pointer
endif

# Everything is built anew when a flag or the compiler's command changes.
FLAGS_NOW := $(strip $(COMPILER) | $(LINKER) | $(FRONT_COMPILER) | $(CPPFLAGS_ALL) | $(CFLAGS_ALL) | $(LDFLAGS_ALL))
FLAGS_FILE := $(B)/flags
ifneq ($(BUILDS),)
ifneq ($(file <$(FLAGS_FILE)),$(FLAGS_NOW))
$(shell mkdir -p $(B))
$(file >$(FLAGS_FILE),$(FLAGS_NOW))
endif
endif
$(FLAGS_FILE):

define compile_src
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILER) $(CPPFLAGS_ALL) $(TIME64) $(if $(filter cli/% daemon/% front/%,$*),$(CLI_CPPFLAGS)) \
		$(if $(filter cli/own_files,$*),-DVCLOCK_PARTS='"$(LIBDIR)/vclock"') \
		$(CFLAGS_ALL) $(if $(filter $(STRICT_DIRS),$(firstword $(subst /, ,$*))),$(WARN_STRICT)) \
		$(if $(filter $(B)/front/%,$@),,-fPIC) -MMD -MP -c -o $@ $<
endef

$(B)/obj/src/%.o: src/%.c $(FLAGS_FILE)
	$(compile_src)

$(B)/front/src/%.o: COMPILER := $(FRONT_COMPILER)
$(B)/front/src/%.o: src/%.c $(FLAGS_FILE)
	$(compile_src)

$(B)/obj/%.o: %.c $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILER) $(CPPFLAGS_ALL) -Itests -DVCLOCK_ROOT='"$(CURDIR)"' $(CFLAGS_ALL) \
		-MMD -MP -c -o $@ $<

$(B)/obj/%.o: %.cc $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(CXX_COMPILER) $(CPPFLAGS_ALL) -Itests -DVCLOCK_ROOT='"$(CURDIR)"' $(CXXFLAGS_ALL) \
		-MMD -MP -c -o $@ $<

$(B)/libvclock.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)ar rcs $@ $^

# The export list is checked to the letter: a version script and hidden visibility together can
# link without a word and export nothing.
$(B)/libvclock.so.0: $(LIB_OBJ) src/lib/libvclock.map scripts/check-exports
	$(call say,LD,$@)
	$(Q)$(LINKER) $(CFLAGS_ALL) $(LDFLAGS_ALL) -shared -Wl,-soname,libvclock.so.0 \
		-Wl,--version-script,src/lib/libvclock.map $(if $(SAN),,-Wl,-z,defs) \
		-Wl,-z,now,-z,relro,-z,nodelete -o $@ $(LIB_OBJ)
	$(Q)scripts/check-exports $@ src/lib/libvclock.map
	$(Q)ln -sf libvclock.so.0 $(B)/libvclock.so

define link_front
	$(call say,LD,$@)
	$(Q)$(or $(FRONT_LINKER),$(LINKER)) $(LDFLAGS_ALL) $(if $(SAN),,-static) -o $@ $^
endef

define link_tools
	$(call say,LD,$@)
	$(Q)$(LINKER) $(LDFLAGS_ALL) $(STATIC) -o $@ $^ $(CLI_LIBS)
endef

$(B)/vclock: $(FRONT_OBJ)
	$(if $(FRONT_LINKER)$(SAN)$(filter-out $(NATIVE)-glibc,$(ARCH)-$(LIBC)),,@echo \
		'  NOTE	no musl-gcc: vclock run will start more slowly')
	$(link_front)

$(B)/vclock-tools: $(CLI_OBJ) $(TOOL_OBJ) $(B)/libvclock.a
	$(link_tools)

# One object knows where the parts are installed. Programs that are installed have one of their own:
# another PREFIX makes that anew and nothing else, and what is tested in $(B) stays as it is.
INSTALL_B := $(B)/installed
# The program of vclock's other commands, and the images.
INSTALL_PARTS = $(LIBDIR)/vclock
ifneq ($(filter install,$(MAKECMDGOALS)),)
ifneq ($(file <$(INSTALL_B)/parts),$(INSTALL_PARTS))
$(shell mkdir -p $(INSTALL_B))
$(file >$(INSTALL_B)/parts,$(INSTALL_PARTS))
endif
endif
$(INSTALL_B)/parts:

$(INSTALL_B)/obj/src/%.o: src/%.c $(FLAGS_FILE) $(INSTALL_B)/parts
	$(compile_src)

$(INSTALL_B)/front/src/%.o: COMPILER := $(FRONT_COMPILER)
$(INSTALL_B)/front/src/%.o: src/%.c $(FLAGS_FILE) $(INSTALL_B)/parts
	$(compile_src)

of_installed = $(patsubst $(B)/%/own_files.o,$(INSTALL_B)/%/own_files.o,$1)
$(INSTALL_B)/vclock: $(call of_installed,$(FRONT_OBJ))
	$(link_front)

$(INSTALL_B)/vclock-tools: $(call of_installed,$(CLI_OBJ)) $(TOOL_OBJ) $(B)/libvclock.a
	$(link_tools)

$(B)/vclockd: $(DAEMON_OBJ) $(B)/libvclock.a
	$(call say,LD,$@)
	$(Q)$(LINKER) $(LDFLAGS_ALL) $(STATIC) -o $@ $(DAEMON_OBJ) $(B)/libvclock.a $(DAEMON_LIBS)

$(B)/examples/%: $(B)/obj/examples/%.o $(B)/libvclock.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINKER) $(LDFLAGS_ALL) $(STATIC) -o $@ $^

-include $(shell find $(B)/obj $(B)/front $(INSTALL_B) -name '*.d' 2>/dev/null)

.PHONY: lib cli examples
.SECONDARY:
