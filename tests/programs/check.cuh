// What all programs share: a call that fails ends the program with the call's text.
#pragma once
#include <cstdio>
#include <cstdlib>

inline void check(cudaError_t result, const char *call)
{
    if (result == cudaSuccess)
        return;
    std::printf("FAILED %s: %s\n", call, cudaGetErrorName(result));
    std::exit(1);
}
#define CHECK(call) check((call), #call)
