/* What the parts of tuning share. */
#ifndef GEN_TUNE_PARTS_H
#define GEN_TUNE_PARTS_H

#include "tune.h"

enum { TUNE_MEMORY_MAX = 32, TUNE_PAGE_SIZE = 16 };

/* Memory of the device that a problem's tensors are in. */
struct tune_tensors {
    fmha_device *device;
    void *memory[TUNE_MEMORY_MAX];
    int count;
};

/* Copies `bytes` bytes of the host to new memory of the device. */
bool tune_put(struct tune_tensors *tensors, const char *label, const void *host, size_t bytes, void **address,
              struct error *error);

/* Gives a plain problem the modifiers and the layout of the request's spec: its sequences are all of full length, its
 * masks hide nothing. K and V of a paged one have rows up to a multiple of TUNE_PAGE_SIZE. */
bool tune_modify(const struct tune_request *request, struct tune_tensors *tensors, fmha_forward_problem *problem,
                 struct error *error);

#endif
