#include "msgpack.h"

static bool take(struct msgpack_reader *reader, size_t count, const uint8_t **bytes) {
    if ((size_t)(reader->end - reader->at) < count) {
        return false;
    }
    *bytes = reader->at;
    reader->at += count;
    return true;
}

static bool take_big_endian(struct msgpack_reader *reader, size_t count, uint64_t *value) {
    const uint8_t *bytes;
    if (!take(reader, count, &bytes)) {
        return false;
    }
    *value = 0;
    for (size_t i = 0; i < count; i++) {
        *value = *value << 8 | bytes[i];
    }
    return true;
}

static bool take_body(struct msgpack_reader *reader, uint64_t length, struct msgpack_item *item) {
    const uint8_t *bytes;
    if (length > SIZE_MAX || !take(reader, (size_t)length, &bytes)) {
        return false;
    }
    item->text = (const char *)bytes;
    item->length = (size_t)length;
    return true;
}

bool msgpack_next(struct msgpack_reader *reader, struct msgpack_item *item) {
    uint64_t tag, length;
    if (!take_big_endian(reader, 1, &tag)) {
        return false;
    }
    *item = (struct msgpack_item){.kind = MSGPACK_SKIPPED};
    if (tag <= 0x7f) {
        item->kind = MSGPACK_NUMBER;
        item->number = tag;
        return true;
    }
    if (tag <= 0x9f) {
        item->kind = tag <= 0x8f ? MSGPACK_MAP : MSGPACK_ARRAY;
        item->number = tag & 0x0f;
        return true;
    }
    if (tag <= 0xbf) {
        item->kind = MSGPACK_STRING;
        return take_body(reader, tag & 0x1f, item);
    }
    switch (tag) {
    case 0xc0: /* nil */
    case 0xc2: /* false */
    case 0xc3: /* true */
        return true;
    case 0xc4: /* binary */
    case 0xc5:
    case 0xc6:
        return take_big_endian(reader, (size_t)1 << (tag - 0xc4), &length) && take_body(reader, length, item);
    case 0xc7: /* extension */
    case 0xc8:
    case 0xc9:
        return take_big_endian(reader, (size_t)1 << (tag - 0xc7), &length) && take_body(reader, length + 1, item);
    case 0xca: /* float32 */
        return take_body(reader, 4, item);
    case 0xcb: /* float64 */
        return take_body(reader, 8, item);
    case 0xcc: /* unsigned */
    case 0xcd:
    case 0xce:
    case 0xcf:
        item->kind = MSGPACK_NUMBER;
        return take_big_endian(reader, (size_t)1 << (tag - 0xcc), &item->number);
    case 0xd0: /* signed */
    case 0xd1:
    case 0xd2:
    case 0xd3: {
        size_t bytes = (size_t)1 << (tag - 0xd0);
        if (!take_big_endian(reader, bytes, &item->number)) {
            return false;
        }
        item->kind = item->number >> (8 * bytes - 1) ? MSGPACK_SKIPPED : MSGPACK_NUMBER;
        return true;
    }
    case 0xd4: /* extension of 1, 2, 4, 8, 16 bytes and its type */
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return take_body(reader, ((uint64_t)1 << (tag - 0xd4)) + 1, item);
    case 0xd9: /* string */
    case 0xda:
    case 0xdb:
        item->kind = MSGPACK_STRING;
        return take_big_endian(reader, (size_t)1 << (tag - 0xd9), &length) && take_body(reader, length, item);
    case 0xdc:
    case 0xdd:
        item->kind = MSGPACK_ARRAY;
        return take_big_endian(reader, (size_t)2 << (tag - 0xdc), &item->number);
    case 0xde:
    case 0xdf:
        item->kind = MSGPACK_MAP;
        return take_big_endian(reader, (size_t)2 << (tag - 0xde), &item->number);
    default: /* 0xc1 is never used; 0xe0 and up are small negative numbers */
        return tag != 0xc1;
    }
}

bool msgpack_skip(struct msgpack_reader *reader, const struct msgpack_item *item) {
    uint64_t left = item->kind == MSGPACK_ARRAY ? item->number : item->kind == MSGPACK_MAP ? 2 * item->number : 0;
    while (left > 0) {
        struct msgpack_item inner;
        if (!msgpack_next(reader, &inner)) {
            return false;
        }
        left--;
        left += inner.kind == MSGPACK_ARRAY ? inner.number : inner.kind == MSGPACK_MAP ? 2 * inner.number : 0;
    }
    return true;
}
