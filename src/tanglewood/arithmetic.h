/* The families of kernels: which instructions the code was compiled for. arithmetic.py names them in the same order;
   a machine that has one has all before it. */
#ifndef TANGLEWOOD_ARITHMETIC_H
#define TANGLEWOOD_ARITHMETIC_H

enum { TW_PORTABLE, TW_AVX2, TW_AVX512, TW_VNNI };

#if defined(__x86_64__) && defined(__GNUC__)
#define TW_X86 1
#define TW_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define TW_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define TW_TARGET_VNNI __attribute__((target("avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#endif

/* The best family that this machine has. */
__attribute__((unused)) static int tw_best_family(void) {
#ifdef TW_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return TW_PORTABLE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return TW_AVX2;
    return __builtin_cpu_supports("avx512vnni") ? TW_VNNI : TW_AVX512;
#else
    return TW_PORTABLE;
#endif
}
#endif
