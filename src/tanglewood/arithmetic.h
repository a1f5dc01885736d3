/* The families of kernels: which instructions the code was compiled for, and which of them this machine has; and what
   compilers call differently. arithmetic.py names the families in the same order, of which a machine takes the last
   that it has.

   GCC and Clang (also as clang-cl) compile every family. Other compilers, such as MSVC, have no vectors as types and
   compile the portable family alone, one number at a time; so does TW_PLAIN, for tests. */
#ifndef TANGLEWOOD_ARITHMETIC_H
#define TANGLEWOOD_ARITHMETIC_H

enum { TW_PORTABLE, TW_AVX2, TW_AVXVNNI, TW_AVX512, TW_VNNI, TW_NEON, TW_DOTPROD };

#if (defined(__GNUC__) || defined(__clang__)) && !defined(TW_PLAIN)
#define TW_VECTORS 1
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TW_UNUSED __attribute__((unused))
#define TW_NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline, unused))
#elif defined(_MSC_VER)
#define TW_UNUSED
#define TW_NOINLINE __declspec(noinline)
#define INLINE static __forceinline
#else
#define TW_UNUSED
#define TW_NOINLINE
#define INLINE static inline
#endif
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 16")
#else
#define UNROLL
#endif

/* The version of Clang, or 0; Apple counts differently, and is ahead by at most two. */
#if defined(__apple_build_version__)
#define TW_CLANG (__clang_major__ - 2)
#elif defined(__clang__)
#define TW_CLANG __clang_major__
#else
#define TW_CLANG 0
#endif

#if defined(TW_VECTORS) && defined(__x86_64__)
#define TW_X86 1
#define TW_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define TW_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define TW_TARGET_VNNI __attribute__((target("avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#if defined(TW_AVXVNNI_AS_AVX512) /* the same instruction as AVX-512 spells it, for tests on machines that lack it */
#define TW_TARGET_AVXVNNI __attribute__((target("avx512vnni,avx512vl,avx2,fma")))
#define TW_DPBUSD(sum, a, b) _mm256_dpbusd_epi32(sum, a, b)
#elif TW_CLANG >= 12 || (!TW_CLANG && __GNUC__ >= 11)
#define TW_TARGET_AVXVNNI __attribute__((target("avxvnni,avx2,fma")))
#define TW_DPBUSD(sum, a, b) _mm256_dpbusd_avx_epi32(sum, a, b)
#endif
#include <cpuid.h>
#endif

#if defined(TW_VECTORS) && defined(__aarch64__) && !defined(__AARCH64EB__)
#define TW_ARM 1
#include <arm_neon.h>
#if defined(__ARM_FEATURE_DOTPROD)
#define TW_TARGET_DOTPROD
#elif TW_CLANG >= 16
#define TW_TARGET_DOTPROD __attribute__((target("dotprod")))
#elif !TW_CLANG && __GNUC__ >= 8
#define TW_TARGET_DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))
#endif
#if defined(TW_TARGET_DOTPROD) && defined(_WIN32)
__declspec(dllimport) int __stdcall IsProcessorFeaturePresent(unsigned long feature); /* as windows.h has it */
#elif defined(TW_TARGET_DOTPROD) && defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(TW_TARGET_DOTPROD) && defined(__linux__)
#include <sys/auxv.h>
#endif
#endif

#ifdef TW_X86
/* Asked of the processor itself, since __builtin_cpu_supports is not in every C library that compilers link with. */
static int tw_x86_families(void) {
    unsigned a, b, c, d, b7, c7, a71 = 0, state, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return 0; /* the system does not keep wide registers */
    int fused = c >> 12 & 1;
    __asm__("xgetbv" : "=a"(state), "=d"(high) : "c"(0)); /* which registers it keeps: 6 are AVX, 0xe6 AVX-512 */
    (void)high;
    if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d)) return 0;
    if (a >= 1) __get_cpuid_count(7, 1, &a71, &b, &c, &d);
    if ((state & 6) != 6 || !fused || !(b7 >> 5 & 1)) return 0;
    int found = 1 << TW_AVX2;
    int wide = (state & 0xe6) == 0xe6 && (b7 >> 16 & 1) && (b7 >> 17 & 1) && (b7 >> 30 & 1) && (b7 >> 31 & 1);
    if (wide) found |= 1 << TW_AVX512; /* F, DQ, BW, VL */
    if (wide && (c7 >> 11 & 1)) found |= 1 << TW_VNNI;
#if defined(TW_AVXVNNI_AS_AVX512)
    if (found >> TW_VNNI & 1) found |= 1 << TW_AVXVNNI;
#elif defined(TW_TARGET_AVXVNNI)
    if (a71 >> 4 & 1) found |= 1 << TW_AVXVNNI;
#endif
    return found;
}
#endif

#ifdef TW_ARM
static int tw_arm_families(void) {
    int has_dotprod = 0;
#if !defined(TW_TARGET_DOTPROD)
#elif defined(_WIN32)
    has_dotprod = IsProcessorFeaturePresent(43) != 0; /* PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE */
#elif defined(__APPLE__)
    size_t size = sizeof has_dotprod;
    if (sysctlbyname("hw.optional.arm.FEAT_DotProd", &has_dotprod, &size, 0, 0)) has_dotprod = 0;
#elif defined(__linux__)
    has_dotprod = getauxval(AT_HWCAP) >> 20 & 1; /* HWCAP_ASIMDDP */
#elif defined(__ARM_FEATURE_DOTPROD)
    has_dotprod = 1;
#endif
    return 1 << TW_NEON | (has_dotprod ? 1 << TW_DOTPROD : 0);
}
#endif

/* The families that this machine has: bit f is family f. */
TW_UNUSED static int tw_families(void) {
#if defined(TW_X86)
    return 1 << TW_PORTABLE | tw_x86_families();
#elif defined(TW_ARM)
    return 1 << TW_PORTABLE | tw_arm_families();
#else
    return 1 << TW_PORTABLE;
#endif
}
#endif
