// Hashing, searching, integer code.
__device__ unsigned mixed(unsigned key)
{
    key ^= key >> 16;
    key *= 0x85ebca6bu;
    key ^= key >> 13;
    key *= 0xc2b2ae35u;
    return key ^ key >> 16;
}

extern "C" __global__ void hashInsert(int n, int size, const int *keys, unsigned long long *table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned slot = mixed(keys[i]) & (size - 1);
    unsigned long long entry = (unsigned long long)(keys[i] + 1) << 32 | 1;
    while (1) {
        unsigned long long old = atomicCAS(&table[slot], 0ull, entry);
        if (old == 0 || old == entry)
            return;
        slot = (slot + 1) & (size - 1);
    }
}

extern "C" __global__ void hashLookup(int n, int size, const int *keys, const int *table, int *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int key = keys[i];
    unsigned slot = mixed(key) & (size - 1);
    for (int tries = 0; tries < 32; tries++) {
        int there = table[slot];
        if (there == key) {
            found[i] = slot;
            return;
        }
        slot = (slot + 1) & (size - 1);
    }
    found[i] = -1;
}

extern "C" __global__ void findString(int n, int length, const unsigned char *text, const unsigned char *pattern, int *hits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - length)
        return;
    int k = 0;
    while (k < length && (text[i + k] & 3) == (pattern[k] & 3))
        k++;
    hits[i] = k;
}

extern "C" __global__ void sha256(int blocks, const unsigned *in, unsigned *out)
{
    __shared__ unsigned k[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 64)
        k[threadIdx.x] = mixed(threadIdx.x + 1);
    __syncthreads();
    unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int b = 0; b < blocks; b++) {
        unsigned w[16], v[8];
        for (int j = 0; j < 16; j++)
            w[j] = in[(i * blocks + b) * 16 + j];
        for (int j = 0; j < 8; j++)
            v[j] = h[j];
#pragma unroll 16
        for (int j = 0; j < 64; j++) {
            unsigned x = w[(j + 1) & 15], y = w[(j + 14) & 15];
            unsigned s1 = __funnelshift_r(v[4], v[4], 6) ^ __funnelshift_r(v[4], v[4], 11) ^ __funnelshift_r(v[4], v[4], 25);
            unsigned t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[j] + w[j & 15];
            unsigned s0 = __funnelshift_r(v[0], v[0], 2) ^ __funnelshift_r(v[0], v[0], 13) ^ __funnelshift_r(v[0], v[0], 22);
            unsigned t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            w[j & 15] += (__funnelshift_r(x, x, 7) ^ __funnelshift_r(x, x, 18) ^ x >> 3) + w[(j + 9) & 15] +
                         (__funnelshift_r(y, y, 17) ^ __funnelshift_r(y, y, 19) ^ y >> 10);
            v[7] = v[6];
            v[6] = v[5];
            v[5] = v[4];
            v[4] = v[3] + t1;
            v[3] = v[2];
            v[2] = v[1];
            v[1] = v[0];
            v[0] = t1 + t2;
        }
        for (int j = 0; j < 8; j++)
            h[j] += v[j];
    }
    for (int j = 0; j < 8; j++)
        out[i * 8 + j] = h[j];
}

extern "C" __global__ void editDistance(int n, int length, const unsigned char *left, const unsigned char *right, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned char line[33];
    for (int j = 0; j <= 32; j++)
        line[j] = j;
    for (int y = 0; y < length; y++) {
        int corner = line[0];
        line[0] = y + 1;
        for (int x = 0; x < 32; x++) {
            int above = line[x + 1];
            int same = corner + ((left[y * n + i] ^ right[x * n + i]) & 3 ? 1 : 0);
            line[x + 1] = min(same, min(above, line[x]) + 1);
            corner = above;
        }
    }
    out[i] = line[32];
}
