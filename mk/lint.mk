# SPDX-License-Identifier: MIT
# make lint: each part says nothing when all is well. scripts/test runs the parts as tests.

LINT_PARTS := format includes tree shell man cppcheck tidy
LINT_FILES := $(shell scripts/tree-files 2>/dev/null)
LINT_C := $(filter %.c,$(LINT_FILES))
LINT_SHELL := $(filter scripts/% %.sh %.t .ci/run,$(filter-out %.allow %.awk,$(LINT_FILES)))
LINT_MAN := $(filter man/%,$(LINT_FILES))
LINT_CPPFLAGS := -Iinclude -Isrc -Itests -D_GNU_SOURCE -DVCLOCK_HAS_LIBS=1 -DVCLOCK_HAS_SO=1 -DVCLOCK_VERSION='""' -DVCLOCK_PARTS='""' \
	-DIMAGE_ARCH_H='"image/arch/image_x86_64.h"' -DFOLLOW_ARCH_H='"image/arch/follow_x86_64.h"' \
	-DFUZZ_ROOT='""' -DFUZZ_CORPUS='""' -DVCLOCK_ROOT='""'

lint:
	@$(MAKE) --no-print-directory -O -k -j2 $(LINT_PARTS:%=lint-%)

lint-format:
	@clang-format --dry-run -Werror $(filter %.c %.h %.cc,$(LINT_FILES))

lint-includes:
	@scripts/lint-includes

lint-tree:
	@scripts/lint-tree

lint-shell:
	@shellcheck $(LINT_SHELL)

lint-man:
	@$(if $(LINT_MAN),mandoc -T lint -W warning $(LINT_MAN),true)

lint-cppcheck:
	@mkdir -p build/lint/cppcheck
	@timeout 300 cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
		--cppcheck-build-dir=build/lint/cppcheck --suppress=missingIncludeSystem --suppress=duplicateAssignExpression -D__x86_64__ -U__i386__ \
		$(LINT_CPPFLAGS) $(LINT_C)

# A stamp for each file: what did not change is not looked at again.
LINT_STAMPS := $(LINT_C:%.c=build/lint/%.tidy)
lint-tidy: $(LINT_STAMPS)
	@true

$(LINT_STAMPS): build/lint/%.tidy: %.c .clang-tidy $(filter %.h,$(LINT_FILES))
	@mkdir -p $(@D)
	@timeout 300 clang-tidy --quiet $< -- -std=gnu11 $(LINT_CPPFLAGS) 2>$@.said || { cat $@.said; exit 1; }
	@touch $@

list-lint:
	@printf '%s\n' $(LINT_PARTS)

.PHONY: lint list-lint $(LINT_PARTS:%=lint-%)
