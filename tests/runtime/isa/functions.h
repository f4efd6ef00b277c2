/* Small functions that are compiled twice from this text: for the host as C, and for the chip as HIP. Each makes of
 * eight words of one work item eight words. The macros are defined by whoever includes it: FUNCTION(name)   the head of
 * a function: `in` and `out` are its words CALLED           before a function that others call float16          the
 * type Names of all of them are in functions_host.h. */

/* ---- What both sides need ---------------------------------------------------------------------------------- */

typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef unsigned short u16;
typedef short s16;
typedef signed char s8;

CALLED float to_float(u32 bits) {
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}

CALLED u32 of_float(float value) {
    u32 bits;
    __builtin_memcpy(&bits, &value, 4);
    return bits;
}

CALLED double to_double(u32 low, u32 high) {
    u64 bits = (u64)high << 32 | low;
    double value;
    __builtin_memcpy(&value, &bits, 8);
    return value;
}

CALLED void put_double(u32 *out, double value) {
    u64 bits;
    __builtin_memcpy(&bits, &value, 8);
    out[0] = (u32)bits;
    out[1] = (u32)(bits >> 32);
}

/* A float between 2^-20 and 2^20 of either sign. */
CALLED float tame(u32 bits) {
    return to_float((bits & 0x807fffffu) | ((bits >> 23 & 31) + 111) << 23);
}

CALLED float16 to_half(u32 bits) {
    u16 word = (u16)bits;
    float16 value;
    __builtin_memcpy(&value, &word, 2);
    return value;
}

CALLED u32 of_half(float16 value) {
    u16 word;
    __builtin_memcpy(&word, &value, 2);
    return word;
}

/* A float16 between 2^-4 and 2^4. */
CALLED float16 tame_half(u32 bits) {
    return to_half((bits & 0x83ffu) | ((bits >> 10 & 7) + 11) << 10);
}

/* ---- Integers ---------------------------------------------------------------------------------------------- */

FUNCTION(integer_arithmetic) {
    out[0] = in[0] + in[1] * in[2];
    out[1] = in[0] - (in[1] ^ in[3]);
    out[2] = (in[0] & in[1]) | (~in[0] & in[2]);
    out[3] = (in[0] << (in[1] & 31)) | (in[0] >> (-in[1] & 31));
    out[4] = (u32)((s32)in[0] >> (in[2] & 31));
    out[5] = (in[0] >> 7 & 0x1ff) + (in[1] << 3) + in[2];
    out[6] = in[0] > in[1] ? in[2] : in[3];
    out[7] = (s32)in[0] < (s32)in[1] ? in[4] : in[5];
}

FUNCTION(integer_division) {
    u32 d = in[1] | 1;
    s32 e = (s32)(in[2] | 1);
    out[0] = in[0] / d;
    out[1] = in[0] % d;
    out[2] = e == -1 ? 0 : (u32)((s32)in[3] / e);
    out[3] = e == -1 ? 0 : (u32)((s32)in[3] % e);
    out[4] = in[0] / 10;
    out[5] = (u32)((s32)in[0] / 7);
    out[6] = in[0] % 1000;
    out[7] = (u32)((s32)in[4] % 3);
}

FUNCTION(wide_integers) {
    u64 a = (u64)in[1] << 32 | in[0], b = (u64)in[3] << 32 | in[2], sum = a + b, product = a * b;
    u64 shifted = a << (in[4] & 63) ^ b >> (in[5] & 63) ^ (u64)((s64)a >> (in[6] & 63));
    u64 difference = a - b;
    out[0] = (u32)sum;
    out[1] = (u32)(sum >> 32);
    out[2] = (u32)product;
    out[3] = (u32)(product >> 32);
    out[4] = (u32)shifted;
    out[5] = (u32)(shifted >> 32);
    out[6] = (u32)(difference >> 32) ^ (u32)difference;
    out[7] = (a < b) | ((s64)a < (s64)b) << 1 | (a == b) << 2 | ((s64)a >= 0) << 3;
}

FUNCTION(wide_division) {
    u64 a = (u64)in[1] << 32 | in[0], d = ((u64)in[3] << 32 | in[2]) >> (in[4] & 63) | 1;
    s64 e = (s64)d < 0 ? 3 : (s64)d;
    u64 quotient = a / d, rest = a % d, other = (u64)((s64)a / e);
    out[0] = (u32)quotient;
    out[1] = (u32)(quotient >> 32);
    out[2] = (u32)rest;
    out[3] = (u32)(rest >> 32);
    out[4] = (u32)other;
    out[5] = (u32)(other >> 32);
    out[6] = (u32)(((u64)in[0] * in[5]) >> 32);
    out[7] = (u32)(((s64)(s32)in[0] * (s32)in[5]) >> 32);
}

FUNCTION(bits) {
    out[0] = (u32)__builtin_popcount(in[0]);
    out[1] = in[1] != 0 ? (u32)__builtin_clz(in[1]) : 99;
    out[2] = in[2] != 0 ? (u32)__builtin_ctz(in[2]) : 99;
    out[3] = (u32)__builtin_popcountll((u64)in[0] << 32 | in[1]);
    out[4] = __builtin_bswap32(in[3]);
    out[5] = in[4] != 0 ? (u32)__builtin_clzll((u64)in[4] << 20) : 99;
    out[6] = (in[5] & 0xff) << 16 | (in[6] >> 8 & 0xff00) | (in[7] >> 24);
    out[7] = (u32)(s32)(s8)in[5] + (u32)(s32)(s16)in[6];
}

FUNCTION(narrow_integers) {
    u16 a = (u16)in[0], b = (u16)in[1];
    s16 c = (s16)in[2], d = (s16)in[3];
    out[0] = (u16)(a + b);
    out[1] = (u16)(a * b);
    out[2] = (u32)(s32)(s16)(c - d);
    out[3] = (u32)(s32)(c > d ? c : d);
    out[4] = (u16)(a >> (b & 15));
    out[5] = (u32)(s32)(s16)(c >> (b & 15));
    out[6] = (u16)(a << (b & 15));
    out[7] = (u32)c * (u32)d + in[4];
}

/* ---- Floats ------------------------------------------------------------------------------------------------ */

FUNCTION(float_arithmetic) {
    float a = to_float(in[0]), b = to_float(in[1]), c = to_float(in[2]);
    out[0] = of_float(a + b);
    out[1] = of_float(a - b);
    out[2] = of_float(a * b);
    out[3] = of_float(FMAF(a, b, c));
    out[4] = of_float(a < b ? a : b);
    out[5] = of_float(FABSF(a) * -b);
    out[6] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | !(a >= b) << 4;
    out[7] = of_float(a > 0 ? b + c : b - c);
}

/* The compiler's division is exact, and so is its square root. */
FUNCTION(float_division) {
    out[0] = of_float(to_float(in[0]) / to_float(in[1]));
    out[1] = of_float(to_float(in[2]) / to_float(in[3]));
    out[2] = of_float(1.0f / to_float(in[4]));
    out[3] = of_float(tame(in[5]) / tame(in[6]));
    out[4] = of_float(SQRTF(to_float(in[0] & 0x7fffffffu)));
    out[5] = of_float(SQRTF(to_float(in[1])));
    out[6] = of_float(to_float(in[7]) / 3.0f);
    out[7] = of_float(to_float(in[6] & 0x807fffffu) / to_float(in[5])); /* a denormal divided */
}

FUNCTION(float_rounding) {
    float a = tame(in[0]), b = tame(in[1]);
    out[0] = of_float(FLOORF(a));
    out[1] = of_float(CEILF(a));
    out[2] = of_float(TRUNCF(b));
    out[3] = of_float(RINTF(b));
    out[4] = (u32)(s32)a;
    out[5] = (u32)(s32)(b * 0.5f);
    out[6] = (u32)FABSF(a);
    out[7] = of_float(LDEXPF(a, (s32)(in[2] % 200) - 100));
}

FUNCTION(conversions) {
    out[0] = of_float((float)(s32)in[0]);
    out[1] = of_float((float)in[1]);
    out[2] = of_float((float)(s64)((u64)in[3] << 32 | in[2]));
    out[3] = of_float((float)((u64)in[5] << 32 | in[4]));
    out[4] = of_float((float)(in[0] >> 8 & 0xff));
    out[5] = of_float((float)to_half(in[6] & 0xfbff)); /* no NaN: its bits may differ */
    out[6] = of_half((float16)tame(in[7]));
    out[7] = (u32)((s64)(tame(in[0]) * 0x1p20f) >> 5);
}

FUNCTION(doubles) {
    double a = (double)tame(in[0]) * (double)tame(in[1]), b = (double)(s32)in[2] + 0.125;
    put_double(out, a + b);
    put_double(out + 2, FMA(a, b, a));
    put_double(out + 4, a < b ? FLOOR(a) : TRUNC(b));
    out[6] = of_float((float)(a * b));
    out[7] = (u32)(s32)RINT(b * 0.25);
}

FUNCTION(double_division) {
    double a = to_double(in[0], (in[1] & 0x800fffffu) | ((in[1] >> 20 & 0xff) + 900) << 20);
    double b = to_double(in[2], (in[3] & 0x800fffffu) | ((in[3] >> 20 & 0xff) + 900) << 20);
    put_double(out, a / b);
    put_double(out + 2, to_double(in[4], in[5] & 0x7fdfffffu) / to_double(in[6], in[7] & 0x7fdfffffu));
    put_double(out + 4, SQRT(FABS(a)));
    out[6] = a < b;
    out[7] = FABS(b) < 1e15 ? (u32)(u64)(FABS(b) * 16) : 0;
}

/* Each operation is rounded by an assignment: hosts compute float16 in float32. */
FUNCTION(halves) {
    float16 a = tame_half(in[0]), b = tame_half(in[1]), c = tame_half(in[2]);
    float16 sum = a + b, product = a * b, difference = product - c;
    float16 smaller = a < b ? a : b, larger = b > c ? b : c;
    float16 twice = sum + sum;
    out[0] = of_half(sum);
    out[1] = of_half(product);
    out[2] = of_half(difference);
    out[3] = of_half(smaller);
    out[4] = of_half(larger);
    out[5] = of_half(twice);
    out[6] = of_float((float)a * (float)b + (float)c);
    out[7] = (a < b) | (a == c) << 1;
}

FUNCTION(bfloats) {
    /* rounded to nearest even by hand, as the templates do */
    for (int i = 0; i < 4; i++) {
        float value = tame(in[i]) * tame(in[i + 1]);
        u32 word = of_float(value);
        word += 0x7fff + (word >> 16 & 1);
        out[i] = word >> 16;
        out[4 + i] = of_float(to_float(in[i] << 16 & 0x7f7f0000u) + 1.0f);
    }
}

/* ---- Flow -------------------------------------------------------------------------------------------------- */

FUNCTION(loops) {
    u32 sum = 0, n = in[0] & 31, x = in[1] | 1;
    for (u32 i = 0; i < n; i++) {
        sum += (i ^ in[2]) * 7;
        if ((sum & 64) != 0) {
            sum -= i;
        }
    }
    u32 steps = 0;
    while (x != 1 && steps < 60) { /* lanes leave one by one */
        x = (x & 1) != 0 ? x * 3 + 1 : x >> 1;
        steps++;
    }
    out[0] = sum;
    out[1] = steps;
    out[2] = x;
    for (u32 i = 3; i < 8; i++) {
        out[i] = in[i] > in[0] ? sum + i : steps * i;
    }
}

FUNCTION(choices) {
    for (int i = 0; i < 8; i++) {
        u32 value;
        switch (in[i] & 15) {
        case 0:
            value = in[i] + 1;
            break;
        case 1:
            value = in[i] * 3;
            break;
        case 2:
        case 3:
            value = ~in[i];
            break;
        case 7:
            value = in[i] >> 3;
            break;
        case 9:
            value = in[(i + 1) & 7];
            break;
        case 12:
            value = in[i] < 0x80000000u ? 5 : 6;
            break;
        default:
            value = in[i] ^ 0x55555555u;
        }
        out[i] = value;
    }
}

/* Words by a number that no compiler knows: indexed registers, or scratch. */
FUNCTION(arrays) {
    u32 list[16];
    for (u32 i = 0; i < 16; i++) {
        list[i] = in[i & 7] + i;
    }
    for (u32 i = 0; i < 8; i++) {
        u32 at = in[i] & 15, kept = list[at];
        list[at] = list[(at + i) & 15] ^ i;
        list[(at + 5) & 15] += kept;
    }
    for (u32 i = 0; i < 8; i++) {
        out[i] = list[i] ^ list[8 + i];
    }
}

CALLED u32 mixed(u32 a, u32 b, int depth) {
    u32 value = a * 0x9e3779b1u + b;
    for (int i = 0; i < depth; i++) {
        value ^= value >> 15;
        value *= 0x85ebca77u;
    }
    return value;
}

FUNCTION(calls) {
    for (int i = 0; i < 8; i++) {
        out[i] = mixed(in[i], in[(i + 3) & 7], i & 3) + mixed(in[7 - i], 17, 2);
    }
}

/* Many values that live at once. */
FUNCTION(many_values) {
    float v[24];
    for (int i = 0; i < 24; i++) {
        v[i] = tame(in[i & 7] + 77u * (u32)i);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 24; i++) {
            v[i] = FMAF(v[i], 0.5f, v[(i + 7) % 24]);
        }
    }
    for (int i = 0; i < 8; i++) {
        out[i] = of_float(v[i] + v[8 + i] * v[16 + i]);
    }
}
