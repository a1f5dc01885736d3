/* The kernels of vectors.h and products.h, compiled for each family. kernels_fast.py and kernels_exact.py include this
   file, with fused multiply-adds and without. */
#ifndef TANGLEWOOD_FAMILIES_H
#define TANGLEWOOD_FAMILIES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tanglewood/arithmetic.h"
#include "tanglewood/ml/kernels.h"

#ifndef __GNUC__
#error "GCC or Clang is needed; with other compilers install with TANGLEWOOD_PURE=1"
#endif
#ifdef TW_X86
#include <immintrin.h>
#endif
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE static inline __attribute__((always_inline, unused))

#define LANES 16
#define MOST_USED 256 /* inputs that are looked at together */
/* Vectors of floats, of ints, and of floats that may begin at any of them. */
#define VECTORS(width)                                                \
    typedef float floats##width __attribute__((vector_size(4 * width))); \
    typedef int ints##width __attribute__((vector_size(4 * width)));     \
    typedef unsigned uints##width __attribute__((vector_size(4 * width))); \
    typedef floats##width at_floats##width __attribute__((aligned(4), may_alias));
VECTORS(4)
VECTORS(8)
VECTORS(16)

#define LARGEST 127 /* as in products.py */
#define OFFSET 128
#define LEAST 1e-30f /* rows without a larger number are taken for 0 */

#define KERNELS                                                                                        \
    {NAME(rectified_sum), NAME(add_to_rows),       NAME(few_outputs), NAME(few_outputs_back),          \
     NAME(many_outputs),  NAME(many_outputs_back), NAME(dense),       NAME(rounded), NAME(lstm_step),  \
     NAME(lstm_step_back), NAME(adam)}

/* portable ------------------------------------------------------------------------------------------------------- */
#define NAME(f) f##_portable
#define TARGET
#define WIDTH 4
#define VEC floats4
#define AT(pointer) (*(at_floats4 *)(pointer))
#define DENSE_ROWS 4
#define DENSE_VECTORS 2
#define INTS ints4
#define UINTS uints4
#define GROUP 2
#define PRODUCT_ROWS 2
#define PRODUCT_BLOCKS 1
#ifdef TW_X86
#define ADD_GROUPS(sum, inputs, weights) ((sum) + (ints4)_mm_madd_epi16((__m128i)(inputs), (__m128i)(weights)))
#else /* the lower and the upper half of each int */
#define ADD_GROUPS(sum, inputs, weights) \
    ((sum) + (((inputs) << 16) >> 16) * (((weights) << 16) >> 16) + ((inputs) >> 16) * ((weights) >> 16))
#endif
#include "tanglewood/ml/vectors.h"
#include "tanglewood/ml/products.h"
static const tw_kernels kernels_portable = KERNELS;
#include "tanglewood/ml/family_end.h"

#ifdef TW_X86
/* avx2 ----------------------------------------------------------------------------------------------------------- */
#define NAME(f) f##_avx2
#define TARGET TW_TARGET_AVX2
#define WIDTH 8
#define VEC floats8
#define AT(pointer) (*(at_floats8 *)(pointer))
#define DENSE_ROWS 5
#define DENSE_VECTORS 2
#define INTS ints8
#define UINTS uints8
#define GROUP 2
#define PRODUCT_ROWS 4
#define PRODUCT_BLOCKS 1
#define ADD_GROUPS(sum, inputs, weights) ((sum) + (ints8)_mm256_madd_epi16((__m256i)(inputs), (__m256i)(weights)))
#include "tanglewood/ml/vectors.h"
#include "tanglewood/ml/products.h"
static const tw_kernels kernels_avx2 = KERNELS;
#include "tanglewood/ml/family_end.h"

/* avx512 --------------------------------------------------------------------------------------------------------- */
#define NAME(f) f##_avx512
#define TARGET TW_TARGET_AVX512
#define WIDTH 16
#define VEC floats16
#define AT(pointer) (*(at_floats16 *)(pointer))
#define DENSE_ROWS 6
#define DENSE_VECTORS 4
#define INTS ints16
#define UINTS uints16
#define GROUP 2
#define PRODUCT_ROWS 6
#define PRODUCT_BLOCKS 4
#define ADD_GROUPS(sum, inputs, weights) ((sum) + (ints16)_mm512_madd_epi16((__m512i)(inputs), (__m512i)(weights)))
#include "tanglewood/ml/vectors.h"
#include "tanglewood/ml/products.h"
static const tw_kernels kernels_avx512 = KERNELS;
#include "tanglewood/ml/family_end.h"

/* vnni ----------------------------------------------------------------------------------------------------------- */
#define NAME(f) f##_vnni
#define TARGET TW_TARGET_VNNI
#define WIDTH 16
#define VEC floats16
#define AT(pointer) (*(at_floats16 *)(pointer))
#define DENSE_ROWS 6
#define DENSE_VECTORS 4
#define INTS ints16
#define UINTS uints16
#define GROUP 4
#define PRODUCT_ROWS 6
#define PRODUCT_BLOCKS 4
#define ADD_GROUPS(sum, inputs, weights) \
    ((ints16)_mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(inputs), (__m512i)(weights)))
#include "tanglewood/ml/vectors.h"
#include "tanglewood/ml/products.h"
static const tw_kernels kernels_vnni = KERNELS;
#include "tanglewood/ml/family_end.h"
#endif

/* The kernels of a family, which the machine must have. */
__attribute__((unused)) static const tw_kernels *tw_family(int family) {
#ifdef TW_X86
    if (family == TW_VNNI) return &kernels_vnni;
    if (family == TW_AVX512) return &kernels_avx512;
    if (family == TW_AVX2) return &kernels_avx2;
#endif
    (void)family;
    return &kernels_portable;
}
#endif
