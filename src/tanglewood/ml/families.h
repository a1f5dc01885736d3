/* The kernels of vectors.h and products.h, compiled for each family. kernels_fast.py and kernels_exact.py include this
   file, with fused multiply-adds and without. */
#ifndef TANGLEWOOD_FAMILIES_H
#define TANGLEWOOD_FAMILIES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tanglewood/arithmetic.h"
#include "tanglewood/intrinsics.h"
#include "tanglewood/ml/kernels.h"

#define LANES 16
#define MOST_USED 256 /* inputs that are looked at together */

#define LARGEST 127 /* as in products.py */
#define OFFSET 128
#define LEAST 1e-30f /* rows without a larger number are taken for 0 */
#define GROUP (4 / sizeof(INPUT))

#define KERNELS                                                                                        \
    {GROUP,               ADDED,                   NAME(rectified_sum), NAME(add_to_rows),             \
     NAME(few_outputs),   NAME(few_outputs_back),  NAME(many_outputs),  NAME(many_outputs_back),       \
     NAME(dense),         NAME(rounded),           NAME(lstm_step),     NAME(lstm_step_back),          \
     NAME(adam)}

#ifdef TW_VECTORS
/* Vectors of floats, of ints, and of floats that may begin at any of them. */
#define VECTORS(width)                                                \
    typedef float floats##width __attribute__((vector_size(4 * width))); \
    typedef int ints##width __attribute__((vector_size(4 * width)));     \
    typedef unsigned uints##width __attribute__((vector_size(4 * width))); \
    typedef floats##width at_floats##width __attribute__((aligned(4), may_alias));
VECTORS(4)
VECTORS(8)
VECTORS(16)
#define JOINED(name, width) name##width
#define OF_WIDTH(name, width) JOINED(name, width)
#define VEC OF_WIDTH(floats, WIDTH)
#define INTS OF_WIDTH(ints, WIDTH)
#define UINTS OF_WIDTH(uints, WIDTH)
#define AT(pointer) (*(OF_WIDTH(at_floats, WIDTH) *)(pointer))
#define LANE(vector, i) ((vector)[i])
#define BITS(vector) ((UINTS)(vector))
#define OF_BITS(bits) ((VEC)(bits))
#define FLOATS(ints) __builtin_convertvector(ints, VEC)
#define WHERE(condition, one, other) ((VEC)(((condition) & (INTS)(one)) | (~(condition) & (INTS)(other))))
#else
#define VEC float
#define INTS int32_t
#define UINTS uint32_t
#define AT(pointer) (*(float *)(pointer))
#define LANE(vector, i) (vector)
#define BITS(vector) tw_bits(vector)
#define OF_BITS(bits) tw_of_bits(bits)
#define FLOATS(ints) ((float)(ints))
#define WHERE(condition, one, other) ((condition) ? (one) : (other))
INLINE uint32_t tw_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
INLINE float tw_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
#endif

/* portable ------------------------------------------------------------------------------------------------------- */
#define NAME(f) f##_portable
#define TARGET
#define DENSE_ROWS 4
#define INPUT int16_t
#define ADDED 0
#define PRODUCT_ROWS 2
#define PRODUCT_BLOCKS 1
#ifdef TW_VECTORS
#define WIDTH 4
#define DENSE_VECTORS 2
#else
#define WIDTH 1
#define DENSE_VECTORS 8
#endif
#if defined(TW_X86)
#define ADD_GROUPS(sum, inputs, weights) ((sum) + (ints4)_mm_madd_epi16((__m128i)(inputs), (__m128i)(weights)))
#elif defined(TW_VECTORS) /* the lower and the upper half of each int */
#define ADD_GROUPS(sum, inputs, weights) \
    ((sum) + (((inputs) << 16) >> 16) * (((weights) << 16) >> 16) + ((inputs) >> 16) * ((weights) >> 16))
#else
#define ADD_GROUPS(sum, inputs, weights) \
    ((sum) + (int16_t)(inputs) * (int16_t)(weights) + ((inputs) >> 16) * ((weights) >> 16))
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
#define DENSE_ROWS 5
#define DENSE_VECTORS 2
#define INPUT int16_t
#define ADDED 0
#define PRODUCT_ROWS 4
#define PRODUCT_BLOCKS 1
#define ADD_GROUPS(sum, inputs, weights) ((sum) + (ints8)_mm256_madd_epi16((__m256i)(inputs), (__m256i)(weights)))
#include "tanglewood/ml/vectors.h"
#include "tanglewood/ml/products.h"
static const tw_kernels kernels_avx2 = KERNELS;
#include "tanglewood/ml/family_end.h"

/* avxvnni -------------------------------------------------------------------------------------------------------- */
#ifdef TW_TARGET_AVXVNNI
#define NAME(f) f##_avxvnni
#define TARGET TW_TARGET_AVXVNNI
#define WIDTH 8
#define DENSE_ROWS 5
#define DENSE_VECTORS 2
#define INPUT uint8_t
#define ADDED OFFSET
#define PRODUCT_ROWS 6
#define PRODUCT_BLOCKS 1
#define ADD_GROUPS(sum, inputs, weights) \
    ((ints8)TW_DPBUSD((__m256i)(sum), (__m256i)(inputs), (__m256i)(weights)))
#include "tanglewood/ml/vectors.h"
#include "tanglewood/ml/products.h"
static const tw_kernels kernels_avxvnni = KERNELS;
#include "tanglewood/ml/family_end.h"
#endif

/* avx512 --------------------------------------------------------------------------------------------------------- */
#define NAME(f) f##_avx512
#define TARGET TW_TARGET_AVX512
#define WIDTH 16
#define DENSE_ROWS 6
#define DENSE_VECTORS 4
#define INPUT int16_t
#define ADDED 0
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
#define DENSE_ROWS 6
#define DENSE_VECTORS 4
#define INPUT uint8_t
#define ADDED OFFSET
#define PRODUCT_ROWS 6
#define PRODUCT_BLOCKS 4
#define ADD_GROUPS(sum, inputs, weights) \
    ((ints16)_mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(inputs), (__m512i)(weights)))
#include "tanglewood/ml/vectors.h"
#include "tanglewood/ml/products.h"
static const tw_kernels kernels_vnni = KERNELS;
#include "tanglewood/ml/family_end.h"
#endif

#ifdef TW_ARM
/* neon ----------------------------------------------------------------------------------------------------------- */
#define NAME(f) f##_neon
#define TARGET
#define WIDTH 4
#define DENSE_ROWS 6
#define DENSE_VECTORS 4
#define INPUT int8_t
#define ADDED 0
#define PRODUCT_ROWS 4
#define PRODUCT_BLOCKS 1
/* Two products of numbers up to LARGEST fit into 16 bits. */
#define ADD_GROUPS(sum, inputs, weights)                                                                       \
    ((ints4)vpadalq_s16((int32x4_t)(sum),                                                                      \
                        vpaddq_s16(vmull_s8(vget_low_s8((int8x16_t)(inputs)), vget_low_s8((int8x16_t)(weights))), \
                                   vmull_high_s8((int8x16_t)(inputs), (int8x16_t)(weights)))))
#include "tanglewood/ml/vectors.h"
#include "tanglewood/ml/products.h"
static const tw_kernels kernels_neon = KERNELS;
#include "tanglewood/ml/family_end.h"

/* dotprod -------------------------------------------------------------------------------------------------------- */
#ifdef TW_TARGET_DOTPROD
#define NAME(f) f##_dotprod
#define TARGET TW_TARGET_DOTPROD
#define WIDTH 4
#define DENSE_ROWS 6
#define DENSE_VECTORS 4
#define INPUT int8_t
#define ADDED 0
#define PRODUCT_ROWS 6
#define PRODUCT_BLOCKS 1
#define ADD_GROUPS(sum, inputs, weights) \
    ((ints4)vdotq_s32((int32x4_t)(sum), (int8x16_t)(inputs), (int8x16_t)(weights)))
#include "tanglewood/ml/vectors.h"
#include "tanglewood/ml/products.h"
static const tw_kernels kernels_dotprod = KERNELS;
#include "tanglewood/ml/family_end.h"
#endif
#endif

/* The kernels of a family, which the machine must have. */
TW_UNUSED static const tw_kernels *tw_family(int family) {
#ifdef TW_X86
    if (family == TW_VNNI) return &kernels_vnni;
    if (family == TW_AVX512) return &kernels_avx512;
#ifdef TW_TARGET_AVXVNNI
    if (family == TW_AVXVNNI) return &kernels_avxvnni;
#endif
    if (family == TW_AVX2) return &kernels_avx2;
#endif
#ifdef TW_ARM
#ifdef TW_TARGET_DOTPROD
    if (family == TW_DOTPROD) return &kernels_dotprod;
#endif
    if (family == TW_NEON) return &kernels_neon;
#endif
    (void)family;
    return &kernels_portable;
}
#endif
