/* The vendor's side: answers that only come out right if every argument arrived. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct block { char bytes[64]; };
struct pair { double weight; long count; };
struct point { float x, y, z; };
struct place { int type; int id; };

double cuMixed(int a, double b, long c, float d, unsigned char e, double f, long long g, short h, double i, unsigned j,
               double k, void *l, double m, double n, double o, double p, size_t q)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
           12 * (double)(uintptr_t)l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q;
}

static int block_sum(struct block block)
{
    int sum = 0;
    for (size_t i = 0; i < sizeof block.bytes; i++) {
        sum += (int)(i + 1) * block.bytes[i];
    }
    return sum;
}

int cuOpen_v2(struct block block, int after, struct pair pair, struct point point, struct place place, const void *last)
{
    return block_sum(block) + after + (int)(10 * pair.weight) + (int)pair.count +
           (int)(100 * point.x + 1000 * point.y + 10000 * point.z) + 3 * place.type + 5 * place.id + *(const int *)last;
}

int cuOpen(int only)
{
    return -only;
}

int cuPush(unsigned long long address, struct block block, struct place place, struct point point, struct pair pair,
           void *stream)
{
    return cuOpen_v2(block, (int)address, pair, point, place, &(int){(int)(uintptr_t)stream});
}

int cuPush_ptsz(unsigned long long address, struct block block, struct place place, struct point point,
                struct pair pair, void *stream)
{
    return 1 + cuPush(address, block, place, point, pair, stream);
}

int cuWait(void *stream)
{
    return (int)(uintptr_t)stream;
}

int cuOwn(int value)
{
    return 7 * value;
}

unsigned long long cuWide(void)
{
    return 0xfedcba9876543210ULL;
}

int cuCopy(unsigned long long to, unsigned long long from, size_t bytes)
{
    return (int)(to - from + bytes);
}
