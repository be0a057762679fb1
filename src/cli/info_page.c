/* SPDX-License-Identifier: MIT */
/*
 * info_page.c - the page file, as `vclock info` sees it.
 */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/info.h"
#include "cli/page_words.h"

void info_page_file_check(int library_error, bool is_in_use, struct info_page_file *ret_file)
{
	struct vclock_page page;
	ssize_t n;

	memset(ret_file, 0, sizeof(*ret_file));
	memset(&page, 0, sizeof(page));
	ret_file->path = page_words_path();
	n = page_words_read(ret_file->path, &page);
	if (n < 0) {
		ret_file->error = (int)-n;
		ret_file->is_wrong = page_words_is_wrong((int)n);
		ret_file->verdict = cli_format("%s", page_words_error((int)n));
		return;
	}
	ret_file->verdict = page_words_fault(&page, n);
	ret_file->is_wrong = ret_file->verdict != NULL || page_words_is_wrong(library_error);
	if (ret_file->verdict == NULL)
		ret_file->verdict = cli_format(
			"%s", library_error != 0 ? page_words_refusal(&page, library_error)
			      : is_in_use	 ? "in use"
						 : "a page, but not asked for");
}
