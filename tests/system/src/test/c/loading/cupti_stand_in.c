/* A library of CUPTI's name: asks for the tools' export table, as NVIDIA's does when a profile is taken. */
#include "cuda_calls.h"

int profile(void)
{
    static const unsigned char tools[16] = {0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48,
                                            0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2};
    const void *table;
    return cuGetExportTable(&table, tools);
}
