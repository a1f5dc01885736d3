/* The functions of C that stand for vector instructions of x86. As clang-cl, Clang leaves out of immintrin.h what the
   command line does not ask for, although functions may ask for it themselves. */
#ifndef TANGLEWOOD_INTRINSICS_H
#define TANGLEWOOD_INTRINSICS_H

#include "tanglewood/arithmetic.h"

#ifdef TW_X86
#include <immintrin.h>
#if defined(_MSC_VER) && !defined(__AVX2__)
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#include <fmaintrin.h>
#include <avx512fintrin.h>
#include <avx512vlintrin.h>
#include <avx512bwintrin.h>
#include <avx512dqintrin.h>
#include <avx512vnniintrin.h>
#include <avx512vlvnniintrin.h>
#ifdef TW_TARGET_AVXVNNI
#include <avxvnniintrin.h>
#endif
#endif
#endif
#endif
