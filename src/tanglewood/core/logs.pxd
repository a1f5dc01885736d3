"""The functions of logs.h under their usual names; interpreted, logs_plain.py stands in for this file."""

cdef extern from "tanglewood/core/logs.h" nogil:
    double exp "tw_exp"(double x)
    double log "tw_log"(double x)
    double log1p "tw_log1p"(double x)
