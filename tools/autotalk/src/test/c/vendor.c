/* A vendor library for the trampolines: its entries prove that every argument arrived. */
#include <stdint.h>
#include <string.h>

struct handle {
    unsigned char bytes[64];
};

/* More integers than registers, floats in between. */
int cuMany(int a, double f, int b, int c, int d, int e, int g, int h, float k, int i)
{
    return a == 1 && f == 2.5 && b == 3 && c == 4 && d == 5 && e == 6 && g == 7 && h == 8 && k == 9.5f && i == 10 ? 77 : 0;
}

/* A structure by value travels on the stack. */
int cuByValue(uint64_t *out, struct handle h, unsigned flags)
{
    *out = h.bytes[0] + h.bytes[63];
    return flags == 5 ? 88 : 0;
}

int cuWrapped(int a, void *stream)
{
    return stream ? a + 1 : 0;
}
