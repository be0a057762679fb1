# SPDX-License-Identifier: MIT
# Tests: one behaviour a file, each a program of its own that prints TAP; prove runs them.
#   tests/unit_*.c     cmocka, on the native build
#   tests/*.c, *.cc    our TAP helper (tests/tap.h), on every build (C++: not with musl)
#   tests/support_*.c  no tests: linked into all of them
#   tests/*.t          shell, on every native build; B names the build folder
#   tests/tree_*.t     shell, of the tree and not of one build: with gcc on the native build only
# make check runs all but those that judge the sources and the tools around them, and the figures of
# vclock run, which make check-tree runs.
# Tests that are also linked with the shared library (NAME-so), and statically (NAME-static):
TESTS_ALSO_SO := lib_routes lib_ids lib_publisher lib_getpid lib_stack
TESTS_ALSO_STATIC := lib_routes lib_early lib_getpid lib_publisher lib_tsc_forbidden

UNIT_SRC := $(if $(HAS_LIBS),$(wildcard tests/unit_*.c))
TAP_SRC := $(filter-out tests/unit_% tests/support_%,$(wildcard tests/*.c))
TAP_CXX_SRC := $(if $(CXX_COMPILER),$(wildcard tests/*.cc))
SUPPORT_SRC := $(wildcard tests/support_*.c)
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(B)/obj/%.o)
TEST_PARTS := $(SUPPORT_OBJ) $(TOOL_OBJ)
TEST_BIN := $(patsubst tests/%.c,$(B)/tests/%,$(UNIT_SRC) $(TAP_SRC)) \
	$(patsubst tests/%.cc,$(B)/tests/%,$(TAP_CXX_SRC)) \
	$(if $(HAS_SO),$(TESTS_ALSO_SO:%=$(B)/tests/%-so)) \
	$(if $(HAS_SO),$(TESTS_ALSO_STATIC:%=$(B)/tests/%-static))
# What proves nothing more where both a sanitizer and a translator slow it down: tests of real time,
# some of them of the image, which has no sanitizer in it; and the model, which has none of the
# product's code.
SLOW_TESTS := check_kernel_routes check_page_% check_twins check_under_load daemon_churn daemon_cost \
	daemon_leak daemon_readers image_suites model_page
ifneq ($(if $(SAN),$(filter-out $(ARCH),$(NATIVE))),)
ifneq ($(shell scripts/emulator $(ARCH) 2>/dev/null),)
TEST_BIN := $(filter-out $(SLOW_TESTS:%=$(B)/tests/%),$(TEST_BIN))
endif
endif
# Tests that keep a page of the machine's own counter, which an emulator's is not fit for. Its aarch64
# counter is the wall clock in microseconds. Its riscv64 counter is the machine's, but is read before
# or after what is beside it, as the CPU likes: threads see it go back, and only those tests are left
# out. In a virtual machine (check-in-vm) all of them run.
EMULATED_WITHOUT_riscv64 := check_page_fastest check_page_order check_page_restarts check_page_suites \
	check_under_load image_suites publish_stress
EMULATED_WITHOUT_aarch64 := $(EMULATED_WITHOUT_riscv64) check_page_bracket check_twins image_fallback \
	image_namespace image_stack lib_calls lib_denied lib_gettimeofday lib_ids lib_low_fds lib_no_proc \
	lib_no_wipe lib_open lib_pointers lib_publisher lib_reopen lib_signals lib_stamp lib_threads lib_time \
	lib_time_namespace read_scales
EMULATED_WITHOUT := $(if $(shell scripts/emulator $(ARCH) 2>/dev/null),$(EMULATED_WITHOUT_$(ARCH):%=$(B)/tests/%))
# Tests of what an emulator has none of, or another of: vDSO, system calls, processes, page tables. The
# others show as much under it, and do in less time than a virtual machine takes for them.
NEEDS_KERNEL := attach_% check_% cli_% daemon_% image_% lib_% measure_% publish_stepped publish_stress \
	read_scales vdso_%
NEED_KERNEL = $(filter $(NEEDS_KERNEL:%=$(B)/tests/%),$(TEST_BIN))
ifeq ($(HAS_LIBS),1)
TREE_TESTS := $(if $(filter build/$(NATIVE),$(B)),$(wildcard tests/tree_*.t))
SHELL_TESTS := $(filter-out tests/tree_%,$(wildcard tests/*.t)) $(TREE_TESTS)
endif
# The longest first, so that none of them runs alone at the end. Not :=, for mk/fuzz.mk adds to it.
TESTS_FIRST := daemon_churn tree_run_figures.t tree_lint.t tree_headers.t daemon_hostile.t tree_run_reads.t \
	tree_run_filtered.t tree_run_follow.t tree_run_languages.t run_launcher.t tree_code.t cli_page.t \
	tree_runner.t cli_verify.t tree_run_guests.t lib_reopen tree_install.t
TESTS_ALL = $(filter-out $(EMULATED_WITHOUT),$(TEST_BIN)) $(SHELL_TESTS:tests/%=$(B)/tests/%)
TESTS = $(foreach test,$(TESTS_FIRST:%=$(B)/tests/%),$(filter $(test),$(TESTS_ALL))) \
	$(filter-out $(TESTS_FIRST:%=$(B)/tests/%),$(TESTS_ALL))

# Not of what a build does: what compilers make of the sources, whether lint, runner and reports notice
# what they should; and what vclock run is worth beside programs of many languages.
OF_TREE := tree_code.t tree_docs.t tree_fences.t tree_headers.t tree_lint.t tree_man.t tree_run_figures.t \
	tree_runner.t tree_vm_report.t tree_vm_table.t
TESTS_OF_TREE = $(filter $(OF_TREE:%=$(B)/tests/%),$(TESTS))

# C++ tests need the C++ library, which the loader does not find for a cross build.
$(patsubst tests/%.cc,$(B)/tests/%,$(TAP_CXX_SRC)): LINKER := $(CXX_COMPILER)
$(patsubst tests/%.cc,$(B)/tests/%,$(TAP_CXX_SRC)): STATIC := -static-libstdc++ -static-libgcc

$(B)/obj/tests/lib_dlopen.o: CPPFLAGS_ALL += -DVCLOCK_HAS_SO=$(if $(HAS_SO),1,0)

$(B)/tests/%: $(B)/obj/tests/%.o $(TEST_PARTS) $(B)/libvclock.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINKER) $(LDFLAGS_ALL) $(STATIC) -o $@ $^ $(if $(filter unit_%,$*),-lcmocka) $(LDLIBS_$*)

$(B)/tests/%-static: $(B)/obj/tests/%.o $(TEST_PARTS) $(B)/libvclock.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINKER) $(LDFLAGS_ALL) $(if $(SAN),,-static) -o $@ $^ $(LDLIBS_$*)

# An archive, so that what needs the library's insides stays out of programs that do not.
$(B)/test-parts.a: $(TEST_PARTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/tests/%-so: $(B)/obj/tests/%.o $(B)/test-parts.a $(B)/libvclock.so.0
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINKER) $(LDFLAGS_ALL) -o $@ $^ -Wl,-rpath,'$$ORIGIN/..' $(LDLIBS_$*)

# What a sanitized library asks of the program that loads it, where a linker does not see to that.
ifneq ($(findstring -static-libasan,$(LDFLAGS_ALL)),)
LDLIBS_lib_dlopen := -Wl,--export-dynamic-symbol='__asan_*' -Wl,--export-dynamic-symbol='__ubsan_*'
endif

# A part of the daemon by itself, and with the time_t that it has.
$(B)/obj/tests/daemon_wake.o: CPPFLAGS_ALL += $(TIME64)
$(B)/tests/daemon_wake: $(B)/obj/src/daemon/wake.o

# A link, so that a shell test's name tells its build.
$(B)/tests/%.t: tests/%.t
	@mkdir -p $(@D)
	@ln -sfn $(CURDIR)/$< $@

# What the runner and the shell tests must know of this build.
$(B)/build.env: $(FLAGS_FILE) mk/test.mk scripts/emulator
	@printf '%s=%q\n' B '$(CURDIR)/$(B)' CELL_ARCH '$(ARCH)' CELL_LIBC '$(LIBC)' CELL_SAN '$(SAN)' \
		CELL_CC '$(COMPILER)' CELL_CXX '$(CXX_COMPILER)' CELL_LD '$(LINKER)' \
		CELL_LDFLAGS '$(LDFLAGS_ALL) $(STATIC)' \
		VCLOCK_EMULATOR "$$(scripts/emulator $(ARCH))" > $@

tests: all $(B)/build.env $(TEST_BIN) $(SHELL_TESTS:tests/%=$(B)/tests/%)

# The runner gives each test a limit of its own and fails on a skip that is not on the list.
check: tests
	scripts/run-tests $(filter-out $(TESTS_OF_TREE),$(TESTS))

check-tree: tests
	scripts/run-tests $(TESTS_OF_TREE)

check-long: tests
	VCLOCK_TEST_LONG=1 scripts/run-tests $(TESTS)

# For scripts/test, which runs the tests of many builds in one go.
list-tests:
	@printf '%s\n' $(TESTS)

.PHONY: tests check check-tree check-long list-tests
