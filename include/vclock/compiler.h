/* SPDX-License-Identifier: MIT */
/*
 * compiler.h - attributes, single-copy loads and the two fences of the page protocol.
 *
 * For the freestanding headers of this folder: needs no libc and defines no object. C99 and C++11;
 * gcc and clang. It must never contain anything that depends on an architecture.
 */
#ifndef VCLOCK_COMPILER_H
#define VCLOCK_COMPILER_H

#include <stddef.h>
#include <stdint.h>

/*
 * What is declared between these two is the library's public face: default visibility, although the
 * library itself is compiled with hidden. The version script (src/lib/libvclock.map) names the same
 * symbols once more, and the build compares.
 */
#ifdef __cplusplus
/* In C++ a function that is named like a struct hides its constructor; g++ -Wshadow says so. */
#define VCLOCK_BEGIN_DECLS                                                     \
	_Pragma("GCC visibility push(default)") _Pragma("GCC diagnostic push") \
		_Pragma("GCC diagnostic ignored \"-Wshadow\"") extern "C"      \
	{
#define VCLOCK_END_DECLS \
	}                \
	_Pragma("GCC diagnostic pop") _Pragma("GCC visibility pop")
#else
#define VCLOCK_BEGIN_DECLS _Pragma("GCC visibility push(default)")
#define VCLOCK_END_DECLS _Pragma("GCC visibility pop")
#endif

/*
 * Every inline of the public headers. A source file that defines VCLOCK_INLINE before it includes
 * them turns each inline into an ordinary external function: that is how the library gets its one
 * out-of-line copy.
 */
#ifndef VCLOCK_INLINE
#define VCLOCK_INLINE static inline __attribute__((unused))
#endif

#define VCLOCK_ALWAYS_INLINE static inline __attribute__((always_inline, unused))
#define VCLOCK_LIKELY(x) __builtin_expect(!!(x), 1)
#define VCLOCK_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A compile-time check that C99 -pedantic and C++11 both take: an array of size -1 when it fails.
 */
#define VCLOCK_ASSERT_CAT_(a, b) a##b
#define VCLOCK_ASSERT_NAME_(line) VCLOCK_ASSERT_CAT_(vclock_static_assert_, line)
#define VCLOCK_STATIC_ASSERT(cond) \
	extern char VCLOCK_ASSERT_NAME_(__LINE__)[(cond) ? 1 : -1] __attribute__((unused))

/*
 * Loads and stores that the compiler may neither repeat nor invent. 32 bits are single-copy atomic
 * on every architecture; 64 bits may tear on 32-bit ones, which the generation check makes
 * harmless.
 */
#define VCLOCK_LOAD32(p) (*(const volatile uint32_t *)(p))
#define VCLOCK_LOAD64(p) (*(const volatile uint64_t *)(p))
#define VCLOCK_STORE32(p, v) ((void)(*(volatile uint32_t *)(p) = (v)))
#define VCLOCK_STORE64(p, v) ((void)(*(volatile uint64_t *)(p) = (v)))

/* Reader: loads before it are done before loads after it. Partner: vclock_fence_release(). */
VCLOCK_ALWAYS_INLINE void vclock_fence_acquire(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Writer: stores before it are seen before stores after it. Partner: vclock_fence_acquire(). */
VCLOCK_ALWAYS_INLINE void vclock_fence_release(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/*
 * The errno values that the freestanding parts return, negated. Their numbers are those of Linux on
 * every architecture that vclock knows; the library asserts it against <errno.h>.
 */
#define VCLOCK_EPERM 1
#define VCLOCK_ENOENT 2
#define VCLOCK_EAGAIN 11
#define VCLOCK_EINVAL 22
#define VCLOCK_ERANGE 34
#define VCLOCK_ENOEXEC 8
#define VCLOCK_ETIME 62
#define VCLOCK_EALREADY 114

#endif /* VCLOCK_COMPILER_H */
