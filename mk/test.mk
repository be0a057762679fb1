# SPDX-License-Identifier: MIT
# Tests: one behaviour a file, each a program of its own that prints TAP; prove runs them.
#   tests/unit_*.c   cmocka, on the native build
#   tests/*.c        our TAP helper (tests/tap.h), on every build
#   tests/*.t        shell, on the native build

UNIT_SRC := $(if $(HAS_LIBS),$(wildcard tests/unit_*.c))
TAP_SRC := $(filter-out tests/unit_% tests/support_%,$(wildcard tests/*.c))
SUPPORT_SRC := $(wildcard tests/support_*.c)
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(B)/obj/%.o)
TEST_BIN := $(patsubst tests/%.c,$(B)/tests/%,$(UNIT_SRC) $(TAP_SRC))
SHELL_TESTS := $(if $(HAS_LIBS),$(wildcard tests/*.t))

$(B)/obj/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	$(COMPILER) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(B)/tests/%: tests/%.c $(SUPPORT_OBJ) $(TOOL_OBJ) $(B)/libvclock.a
	@mkdir -p $(@D)
	$(COMPILER) $(CPPFLAGS_ALL) -Itests $(CFLAGS_ALL) $(LDFLAGS_ALL) $(STATIC) -MMD -MP -o $@ $< \
		$(SUPPORT_OBJ) $(TOOL_OBJ) $(B)/libvclock.a $(if $(filter unit_%,$*),-lcmocka) $(LDLIBS_$*)

tests: all $(TEST_BIN)

# The runner gives each test a limit of its own and fails on a skip that is not on the list.
check: tests
	B=$(B) NATIVE=$(HAS_LIBS) scripts/run-tests $(TEST_BIN) $(SHELL_TESTS)

check-long: tests
	B=$(B) NATIVE=$(HAS_LIBS) VCLOCK_TEST_LONG=1 scripts/run-tests $(TEST_BIN) $(SHELL_TESTS)

.PHONY: tests check check-long
.SECONDARY: $(SUPPORT_OBJ) $(TOOL_OBJ)
