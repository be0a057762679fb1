# SPDX-License-Identifier: MIT
# make lint
lint:
	@true
.PHONY: lint
