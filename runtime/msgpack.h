/* Reads MessagePack, in which code objects describe their kernels. A reader of our own: msgpack-c allocates 16 bytes
 * for each element that an array claims to have before it has seen one, so five hostile bytes make it ask for 4 GiB.
 * This one allocates nothing. */
#ifndef FMHA_MSGPACK_H
#define FMHA_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum msgpack_kind { MSGPACK_NUMBER, MSGPACK_STRING, MSGPACK_MAP, MSGPACK_ARRAY, MSGPACK_SKIPPED };

struct msgpack_item {
    enum msgpack_kind kind;
    uint64_t number;  /* of a number, or entries of a map or array */
    const char *text; /* of a string; points into what is read */
    size_t length;
};

struct msgpack_reader {
    const uint8_t *at, *end;
};

/* One item; a map or array is its header alone. Numbers below zero come as MSGPACK_SKIPPED: no field may hold one.
 * False at the end and for what is no MessagePack. */
bool msgpack_next(struct msgpack_reader *reader, struct msgpack_item *item);

/* Skips the entries of a map or array that was just read, however deep; nothing for another item. */
bool msgpack_skip(struct msgpack_reader *reader, const struct msgpack_item *item);

#endif
