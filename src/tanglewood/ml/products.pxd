from tanglewood.ml.kernels cimport Kernels
from tanglewood.ml.vectors cimport rounded_products

cpdef _multiply(
    Kernels kernels, signed char[::1] packed, float[::1] scales, float[::1] excess, unsigned char[::1] scratch,
    float[::1] units, float[:, ::1] rows, float[:, ::1] out,
)
