/* SPDX-License-Identifier: MIT */
/*
 * gettime_body.h - clock_gettime for one form of struct timespec.
 *
 * image.c includes it once for each form, with the GETTIME_ macros set, which it takes away again.
 * In steps, each left by a jump, so that no frame lies on another: what nearly every call does;
 * then what the first call of a process and the rare clocks need.
 */
IMAGE_STEP int GETTIME(gettime_first)(uint32_t clk, GETTIME_TIMESPEC *ret_ts);
IMAGE_STEP int GETTIME(gettime_first)(uint32_t clk, GETTIME_TIMESPEC *ret_ts)
{
	settle();
	IMAGE_LEAVE GETTIME_FORWARD(clk, ret_ts);
}

IMAGE_STEP int GETTIME(gettime_rare)(uint32_t clk, GETTIME_TIMESPEC *ret_ts);
IMAGE_STEP int GETTIME(gettime_rare)(uint32_t clk, GETTIME_TIMESPEC *ret_ts)
{
	int64_t sec;
	uint32_t nsec;

	if (read_rare(clk, &sec, &nsec) != 0)
		IMAGE_LEAVE GETTIME_FORWARD(clk, ret_ts);
	ret_ts->tv_sec = (GETTIME_SEC)sec;
	ret_ts->tv_nsec = (GETTIME_NSEC)nsec;
	return 0;
}

IMAGE_STEP int GETTIME(gettime_rest)(uint32_t clk, GETTIME_TIMESPEC *ret_ts);
IMAGE_STEP int GETTIME(gettime_rest)(uint32_t clk, GETTIME_TIMESPEC *ret_ts)
{
	/*
	 * The fine clocks once more, with a counter value of now: a caller that was held up between
	 * counter and page for longer than two lines last would take the kernel's clock for a while
	 * in which others read the page.
	 */
	uint32_t bit = clock_bit(clk), rare = FINE_CLOCKS;

	if (kernel_has_alarm())
		rare |= ALARM_CLOCKS;
	if (!kernel_has(GETTIME_SLOT))
		rare |= COARSE_CLOCKS;
	if (!is_settled() && (bit & rare))
		IMAGE_LEAVE GETTIME(gettime_first)(clk, ret_ts);
	if (may_read() && (bit & rare))
		IMAGE_LEAVE GETTIME(gettime_rare)(clk, ret_ts);
	/* The page has no answer now, or none to this clock. */
	IMAGE_LEAVE GETTIME_FORWARD(clk, ret_ts);
}

VCLOCK_ALWAYS_INLINE int GETTIME(gettime)(uint32_t clk, GETTIME_TIMESPEC *ret_ts)
{
	int64_t sec;
	uint32_t nsec;

	/* The kernel's own are so fast that a look at anything else, or a frame, would show. */
	if (VCLOCK_UNLIKELY(clk - VCLOCK_REALTIME_COARSE < 2) && kernel_has(GETTIME_SLOT))
		IMAGE_LEAVE GETTIME_JUMP(clk, ret_ts);
	if (VCLOCK_LIKELY((clock_bit(clk) & FINE_CLOCKS) != 0) && may_read() &&
	    VCLOCK_LIKELY(read_clock(clk, &sec, &nsec) == 0)) {
		ret_ts->tv_sec = (GETTIME_SEC)sec;
		ret_ts->tv_nsec = (GETTIME_NSEC)nsec;
		return 0;
	}
	IMAGE_LEAVE GETTIME(gettime_rest)(clk, ret_ts);
}

#undef GETTIME
#undef GETTIME_TIMESPEC
#undef GETTIME_SEC
#undef GETTIME_NSEC
#undef GETTIME_FORWARD
#undef GETTIME_JUMP
#undef GETTIME_SLOT
