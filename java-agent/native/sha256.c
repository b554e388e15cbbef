#include "sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 64
#define LENGTH_AT 56 /* the last eight bytes of the last block are the message's length in bits */

/* FIPS 180-4, 4.2.2: cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t word, unsigned by)
{
    return word >> by | word << (32 - by);
}

/* FIPS 180-4, 6.2.2. */
static void add_block(uint32_t hash[8], const unsigned char *block)
{
    uint32_t w[64];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    uint32_t v[8]; /* a to h */
    memcpy(v, hash, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t s1 = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25);
        uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[t] + w[t];
        uint32_t s0 = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
        uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        hash[i] += v[i];
}

static void add_end(uint32_t hash[8], unsigned char block[BLOCK], size_t rest, uint64_t bytes)
{
    memset(block + rest, 0, BLOCK - rest);
    block[rest] = 0x80;
    if (rest >= LENGTH_AT) {
        add_block(hash, block);
        memset(block, 0, BLOCK);
    }
    for (int i = 0; i < 8; i++)
        block[LENGTH_AT + i] = (unsigned char)(bytes * 8 >> (56 - 8 * i));
    add_block(hash, block);
}

/* Reads until the buffer is full or the file ends. */
static ssize_t read_whole(int file, unsigned char *buffer, size_t size)
{
    size_t have = 0;
    while (have < size) {
        ssize_t n = read(file, buffer + have, size - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

int sha256_of_file(const char *path, char hex[SHA256_HEX_SIZE])
{
    uint32_t hash[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char buffer[1024 * BLOCK];
    uint64_t bytes = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    ssize_t n;
    do {
        n = read_whole(file, buffer, sizeof buffer);
        if (n < 0)
            break;
        bytes += (uint64_t)n;
        for (ssize_t at = 0; at + BLOCK <= n; at += BLOCK)
            add_block(hash, buffer + at);
    } while (n == (ssize_t)sizeof buffer);
    close(file);
    if (n < 0)
        return (int)n;
    unsigned char last[BLOCK];
    size_t rest = (size_t)n % BLOCK;
    memcpy(last, buffer + (size_t)n - rest, rest);
    add_end(hash, last, rest, bytes);
    for (int i = 0; i < 64; i++)
        hex[i] = "0123456789abcdef"[hash[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = '\0';
    return 0;
}
