/*
 * How far a result is from the expected one, by the rules of the software GPU's conformance cases: the twin of
 * io.tessera.software.conformance.Tolerance. Values are raw bits in the low end of a word. Pure functions.
 */
#ifndef PROGRAMS_CLOSENESS_H
#define PROGRAMS_CLOSENESS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum tolerance { EXACT, ULPS, RELATIVE, ABSOLUTE, TOLERANCES };

/* A type of results: whether it is a float, packed in halves, and of which precision and range. */
struct type {
    const char *token;
    int precision, smallest_exponent;
    bool packed;
};

/* Only floats are here: everything else is compared bit for bit. */
static const struct type FLOATS[] = {
    {"f64", 53, -1022, false}, {"f32", 24, -126, false}, {"tf32", 24, -126, false}, {"f16", 11, -14, false},
    {"f16x2", 11, -14, true},  {"bf16", 8, -126, false}, {"bf16x2", 8, -126, true},
};

/* The type of a token of some length, or NULL for one whose values are compared bit for bit. */
static inline const struct type *float_type(const char *token, size_t length)
{
    for (size_t i = 0; i < sizeof FLOATS / sizeof *FLOATS; i++)
        if (strlen(FLOATS[i].token) == length && memcmp(FLOATS[i].token, token, length) == 0)
            return &FLOATS[i];
    return NULL;
}

static inline double single_value(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static inline double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                  : exponent == 0 ? ldexp(fraction, -24)
                                  : ldexp(fraction + 1024, exponent - 25);
    return bits & 0x8000 ? -size : size;
}

static inline double float_value(const struct type *type, uint64_t bits)
{
    double value;
    switch (type->precision) {
    case 53:
        memcpy(&value, &bits, sizeof value);
        return value;
    case 11:
        return half_value((uint16_t)bits);
    case 8:
        return single_value((uint32_t)(bits & 0xFFFF) << 16);
    default:
        return single_value((uint32_t)bits);
    }
}

/* One unit in the last place of a finite value. */
static inline double unit(const struct type *type, double value)
{
    int exponent = type->smallest_exponent, own;
    if (value != 0) {
        frexp(value, &own);
        if (own - 1 > exponent)
            exponent = own - 1;
    }
    return ldexp(1, exponent - type->precision + 1);
}

/* The error as a share of the bound: at most 1 is accepted, INFINITY is a difference that no bound allows. */
static inline double distance(const struct type *type, enum tolerance kind, double bound, uint64_t wanted,
                              uint64_t found)
{
    if (wanted == found)
        return 0;
    if (!type)
        return INFINITY;
    if (type->packed) {
        struct type half = *type;
        half.packed = false;
        double low = distance(&half, kind, bound, wanted & 0xFFFF, found & 0xFFFF);
        double high = distance(&half, kind, bound, wanted >> 16 & 0xFFFF, found >> 16 & 0xFFFF);
        return low > high ? low : high;
    }
    double expected = float_value(type, wanted), value = float_value(type, found);
    if (isnan(expected) || isnan(value))
        return isnan(expected) && isnan(value) ? 0 : INFINITY;
    double error = fabs(expected - value);
    if (kind == EXACT || isinf(error))
        return INFINITY;
    double allowed = kind == ULPS ? bound * unit(type, expected) : kind == RELATIVE ? bound * fabs(expected) : bound;
    return error == 0 ? 0 : error / allowed;
}

#endif
