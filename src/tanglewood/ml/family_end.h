/* Forgets what families.h defined for one family. */
#undef NAME
#undef TARGET
#undef DENSE_ROWS
#undef DENSE_VECTORS
#undef WIDTH
#undef INPUT
#undef ADDED
#undef PRODUCT_ROWS
#undef PRODUCT_BLOCKS
#undef ADD_GROUPS
