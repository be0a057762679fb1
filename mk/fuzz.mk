# SPDX-License-Identifier: MIT
# Fuzzing: fuzz/fuzz_NAME.c is a libFuzzer target, fuzz/corpus/NAME/ its inputs.
#   make fuzz          each target for FUZZ_SECONDS with libFuzzer, ASan and UBSan (needs clang);
#                      FUZZ_RUNS=N ends it after N executions, FUZZ_SECONDS=0 has no end by time,
#                      FUZZ_NAMES='page proc' takes these targets only
#   make fuzz-seeds    writes the seeds that fuzz/seed_NAME.c makes
#   replay_NAME        the corpus through the same code: part of `make check` on every build

FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= -1
FUZZ_NAMES := $(patsubst fuzz/fuzz_%.c,%,$(wildcard fuzz/fuzz_*.c))
SEED_NAMES := $(patsubst fuzz/seed_%.c,%,$(wildcard fuzz/seed_*.c))
REPLAYS := $(FUZZ_NAMES:%=$(B)/tests/replay_%)
FUZZ_B := build/fuzz

$(B)/obj/fuzz/replay_%.o: fuzz/replay.c $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILER) $(CPPFLAGS_ALL) -Itests -DFUZZ_ROOT='"$(CURDIR)/"' \
		-DFUZZ_CORPUS='"fuzz/corpus/$*"' $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(REPLAYS): $(B)/tests/replay_%: $(B)/obj/fuzz/replay_%.o $(B)/obj/fuzz/fuzz_%.o $(SUPPORT_OBJ) \
		$(TOOL_OBJ) $(B)/libvclock.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINKER) $(LDFLAGS_ALL) $(STATIC) -o $@ $^

TEST_BIN += $(REPLAYS)
tests: $(REPLAYS)

$(B)/seed_%: $(B)/obj/fuzz/seed_%.o $(SUPPORT_OBJ) $(TOOL_OBJ) $(B)/libvclock.a
	$(call say,LD,$@)
	$(Q)$(LINKER) $(LDFLAGS_ALL) $(STATIC) -o $@ $^

fuzz-seeds: $(SEED_NAMES:%=$(B)/seed_%)
	set -e; for name in $(SEED_NAMES); do \
		mkdir -p fuzz/corpus/$$name; $(B)/seed_$$name fuzz/corpus/$$name; done

# One compilation of everything: coverage is wanted in the library, not only in the target.
$(FUZZ_B)/fuzz_%: fuzz/fuzz_%.c $(SUPPORT_SRC) $(TOOL_SRC) $(LIB_SRC)
	@mkdir -p $(@D)
	clang $(CPPFLAGS_ALL) -Itests -std=gnu11 $(WARN) -g -O1 -pthread \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^

# What it finds beyond the seeds stays in build/; a crash is written there too, by name.
fuzz: $(FUZZ_NAMES:%=$(FUZZ_B)/fuzz_%)
	set -e; for name in $(FUZZ_NAMES); do \
		mkdir -p $(FUZZ_B)/corpus/$$name; \
		$(FUZZ_B)/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -runs=$(FUZZ_RUNS) -timeout=5 -max_len=16384 \
			-rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix=$(FUZZ_B)/ \
			$(FUZZ_B)/corpus/$$name fuzz/corpus/$$name; done

.PHONY: fuzz fuzz-seeds
