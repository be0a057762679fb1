# SPDX-License-Identifier: MIT
# Objects, library, tools, examples.

# Levels 0 and 1 of the design.
STRICT_DIRS := keeper elf
LIB_DIRS := keeper elf reference publish lib

LIB_SRC := $(foreach d,$(LIB_DIRS),$(wildcard src/$(d)/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o)
TOOL_SRC := $(foreach d,measure check,$(wildcard src/$(d)/*.c))
TOOL_OBJ := $(TOOL_SRC:%.c=$(B)/obj/%.o)
CLI_SRC := $(wildcard src/cli/*.c)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/obj/%.o)

CLI_CPPFLAGS := -DVCLOCK_HAS_LIBS=$(if $(HAS_LIBS),1,0)
CLI_LIBS := $(if $(HAS_LIBS),-lsmartcols -ljson-c -lcapstone)
# musl programs are static; the others take the C library as it comes.
STATIC := $(if $(filter musl,$(LIBC)),-static)

# Our own code has 64-bit time on 32-bit machines too; programs that use the headers choose.
TIME64 := $(if $(filter i386,$(ARCH)),-D_TIME_BITS=64 -D_FILE_OFFSET_BITS=64)

lib: $(B)/libvclock.a $(if $(STATIC),,$(B)/libvclock.so.0)
cli: $(if $(CLI_SRC),$(B)/vclock)

$(B)/obj/src/%.o: src/%.c
	@mkdir -p $(@D)
	$(COMPILER) $(CPPFLAGS_ALL) $(TIME64) $(if $(filter cli/%,$*),$(CLI_CPPFLAGS)) $(CFLAGS_ALL) \
		$(if $(filter $(STRICT_DIRS),$(firstword $(subst /, ,$*))),$(WARN_STRICT)) \
		-fPIC -MMD -MP -c -o $@ $<

$(B)/libvclock.a: $(LIB_OBJ)
	rm -f $@
	ar rcs $@ $^

# The export list is checked to the letter: a version script and hidden visibility together can
# link without a word and export nothing.
$(B)/libvclock.so.0: $(LIB_OBJ) src/lib/libvclock.map scripts/check-exports
	$(COMPILER) $(CFLAGS_ALL) $(LDFLAGS_ALL) -shared -Wl,-soname,libvclock.so.0 \
		-Wl,--version-script,src/lib/libvclock.map $(if $(SAN),,-Wl,-z,defs) -Wl,-z,now,-z,relro \
		-o $@ $(LIB_OBJ)
	scripts/check-exports $@ src/lib/libvclock.map
	ln -sf libvclock.so.0 $(B)/libvclock.so

$(B)/vclock: $(CLI_OBJ) $(TOOL_OBJ) $(B)/libvclock.a
	$(COMPILER) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(STATIC) -o $@ $(CLI_OBJ) $(TOOL_OBJ) \
		$(B)/libvclock.a $(CLI_LIBS)

EXAMPLE_SRC := $(wildcard examples/*.c)
EXAMPLES := $(EXAMPLE_SRC:examples/%.c=$(B)/examples/%)
examples: $(EXAMPLES)

$(B)/examples/%: examples/%.c $(B)/libvclock.a
	@mkdir -p $(@D)
	$(COMPILER) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(STATIC) -MMD -MP -o $@ $< \
		$(B)/libvclock.a

-include $(shell find $(B) -name '*.d' 2>/dev/null)

.PHONY: lib cli examples
