/* Names of result codes, from native-preload/api/cuda.constants. The sentences are made from the names. */
#include <ctype.h>
#include <pthread.h>
#include <string.h>

#include "entry.h"

static const struct {
    CUresult code;
    const char *name;
} errors[] = {
#include "result_names.inc"
};

enum { ERRORS = sizeof errors / sizeof errors[0] };
static char sentences[ERRORS][64];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* "CUDA_ERROR_INVALID_VALUE" becomes "invalid value". */
static void make_sentences(void)
{
    for (size_t i = 0; i < ERRORS; i++) {
        const char *name = errors[i].name + (errors[i].code ? strlen("CUDA_ERROR_") : strlen("CUDA_"));
        for (size_t k = 0; name[k] && k < sizeof sentences[i] - 1; k++)
            sentences[i][k] = name[k] == '_' ? ' ' : (char)tolower((unsigned char)name[k]);
    }
}

EXPORT CUresult cuGetErrorName(CUresult code, const char **out)
{
    ENTER_EARLY(cuGetErrorName);
    for (size_t i = 0; out && i < ERRORS; i++)
        if (errors[i].code == code) {
            *out = errors[i].name;
            return OK;
        }
    if (out)
        *out = NULL;
    return ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGetErrorString(CUresult code, const char **out)
{
    ENTER_EARLY(cuGetErrorString);
    pthread_once(&once, make_sentences);
    for (size_t i = 0; out && i < ERRORS; i++)
        if (errors[i].code == code) {
            *out = sentences[i];
            return OK;
        }
    if (out)
        *out = NULL;
    return ERROR_INVALID_VALUE;
}
