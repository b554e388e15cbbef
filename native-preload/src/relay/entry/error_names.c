/* Names and texts of errors: those of the vendor's driver if there is one, else our own. */
#include <stdlib.h>

#include "relay/wire/relay.h"
#include "relay_stubs.h"
#include "relay/wire/vendor.h"

#define KNOWN(code, text) {code, #code, text},
static const struct known {
    int code;
    const char *name, *text;
} all[] = {CUDA_RESULTS(KNOWN)};

static int by_code(const void *left, const void *right)
{
    return ((const struct known *)left)->code - ((const struct known *)right)->code;
}

static const struct known *find(CUresult error)
{
    struct known wanted = {.code = error};
    return bsearch(&wanted, all, sizeof all / sizeof *all, sizeof *all, by_code);
}

CUresult relay_cuGetErrorName(CUresult error, const char **text)
{
    if (vendor_present())
        return REAL(cuGetErrorName)(error, text);
    const struct known *known = find(error);
    if (text)
        *text = known ? known->name : NULL;
    return known && text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuGetErrorString(CUresult error, const char **text)
{
    if (vendor_present())
        return REAL(cuGetErrorString)(error, text);
    const struct known *known = find(error);
    if (text)
        *text = known ? known->text : NULL;
    return known && text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
