cdef extern from "tanglewood/ml/products.h" nogil:
    int tw_has_products()
    void tw_products(
        float *out, float *rows, signed char *packed, float *scales, float *excess, unsigned char *rounded,
        float *units, int n_rows, int n_in, int n_out,
    )

cdef inline void multiply_rounded(
    signed char[::1] packed, float[::1] scales, float[::1] excess, unsigned char[::1] rounded, float[::1] units,
    float[:, ::1] rows, float[:, ::1] out,
) noexcept nogil:
    tw_products(
        &out[0, 0], &rows[0, 0], &packed[0], &scales[0], &excess[0], &rounded[0], &units[0],
        <int>rows.shape[0], <int>rows.shape[1], <int>out.shape[1],
    )

cpdef _multiply(
    signed char[::1] packed, float[::1] scales, float[::1] excess, unsigned char[::1] rounded, float[::1] units,
    float[:, ::1] rows, float[:, ::1] out,
)
