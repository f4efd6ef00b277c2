/* Keys and values of verification in the small format that an instance reads them in: quantized from the drawn ones by
 * scales that differ, and what these numbers and scales mean. */
#ifndef GEN_KV_CACHE_H
#define GEN_KV_CACHE_H

#include "halves.h"
#include "reference.h"
#include "spec.h"

/* One of K and V, of which V is empty where it is a view of K: [batch][heads_k][seqlen_k] rows without gaps. */
struct kv_cache_tensor {
    int64_t head_dim, row_bytes;
    int64_t scales_of_row; /* mxfp4: E8M0 scales of a row; of fp8 1 */
    uint8_t *numbers;      /* [rows][row_bytes] */
    float *scales;         /* of fp8: [batch][heads_k], of packed keys the same in each batch; or [rows] of tokens */
    uint8_t *blocks;       /* of mxfp4: [rows][scales_of_row] */
};

struct kv_cache {
    bool mxfp4, per_token;
    bool shared; /* all heads of all batches have one scale */
    int format;  /* enum format of fp8 */
    struct kv_cache_tensor k, v;
    double *v_scale; /* per token: what reference_problem.v_scale points to */
};

/* Whether K and V of the instance are smaller than Q. */
bool kv_cache_is_used(const struct spec *spec);

/* Bytes of a row of so many elements of K or V, and of its scales: 0 where a head has one. */
int64_t kv_cache_row_bytes(const struct spec *spec, int64_t head_dim);
int64_t kv_cache_scale_bytes(const struct spec *spec, int64_t head_dim);

/* Quantizes k and v, which have bits of `type`. Of fp8 each scale is the one that the values ask for times a factor of
 * its own, drawn from `seed`; some are powers of two. Of a row in which something is not finite a scale per token has
 * it by turns: then it is NaN or infinite, and numbers are finite. On failure the cache needs no free. */
bool kv_cache_make(const struct spec *spec, const struct reference_problem *problem, enum half_type type, uint64_t seed,
                   const uint16_t *k, const uint16_t *v, struct kv_cache *cache, struct error *error);
void kv_cache_free(struct kv_cache *cache);

/* Of instances that multiply what they read as it is: replaces each row of q, bits of `type`, by what it is quantized
 * to, mxfp4, or numbers of the cache's kind of e4m3 times the scale that the row asks for, and tells the problem. */
bool kv_cache_quantize_q(const struct spec *spec, const struct kv_cache *cache, double *q,
                         struct reference_problem *problem, struct error *error);

/* Fills k and v with what the kernel's operands, numbers as bits of `type` or as they are, stand for once they are
 * scaled. Subnormals of the type are zeros to matrix instructions that flush them. A scale that is not finite makes NaN
 * of its values. Tells the problem what scales do to its bounds; the cache must outlive it. */
void kv_cache_read(const struct spec *spec, const struct kv_cache *cache, enum half_type type, bool flushes, double *k,
                   double *v, struct reference_problem *problem);

#endif
