/* What is refused: the error, and the line for the user, which comes once. */
#include "relay/wire/unsupported.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

static int said; /* in place of stderr */

/* The lines since the last look. */
static const char *lines(void)
{
    static char text[4096];
    ssize_t bytes = pread(said, text, sizeof text - 1, 0);
    text[bytes > 0 ? bytes : 0] = 0;
    CHECK(ftruncate(said, 0) == 0 && lseek(said, 0, SEEK_SET) == 0);
    return text;
}

static unsigned count(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void refusals(void)
{
    CHECK(relay_unsupported("cuFirst", "of a kind") == CUDA_ERROR_NOT_SUPPORTED);
    const char *line = lines();
    CHECK(strstr(line, "cuFirst") && strstr(line, "of a kind") && strstr(line, "--share time") && count(line) == 1);
    CHECK(relay_unsupported("cuSecond", "of a kind") == CUDA_ERROR_NOT_SUPPORTED && !*lines()); /* the same reason */
    CHECK(relay_unsupported("cuThird", "of another kind") == CUDA_ERROR_NOT_SUPPORTED && count(lines()) == 1);
    CHECK(relay_unsupported_query("cuGetFourth", "of a third kind") == CUDA_ERROR_NOT_SUPPORTED &&
          !*lines()); /* a query */
    CHECK(relay_unsupported("cuMemAllocManaged", "managed memory") == CUDA_ERROR_NOT_SUPPORTED &&
          strstr(lines(), "cudaMallocManaged"));
    for (int i = 0; i < 40; i++) { /* more reasons than are remembered: silence, and still an error */
        static char reasons[40][8];
        snprintf(reasons[i], sizeof reasons[i], "r%d", i);
        CHECK(relay_unsupported("cuMany", reasons[i]) == CUDA_ERROR_NOT_SUPPORTED);
    }
    CHECK(count(lines()) == 13); /* 16 with the three before */
}

static void bounds(void)
{
    int first = 0, second = 0;
    CHECK(relay_limit_reached(&first, "a bound was met") == CUDA_ERROR_OUT_OF_MEMORY &&
          strstr(lines(), "a bound was met"));
    CHECK(relay_limit_reached(&first, "a bound was met") == CUDA_ERROR_OUT_OF_MEMORY && !*lines());
    CHECK(relay_limit_reached(&second, "another bound") == CUDA_ERROR_OUT_OF_MEMORY && count(lines()) == 1);
    CHECK(relay_too_many_functions() == CUDA_ERROR_OUT_OF_MEMORY && count(lines()) == 1);
    CHECK(relay_too_many_functions() == CUDA_ERROR_OUT_OF_MEMORY && !*lines());
}

int main(void)
{
    int before = dup(STDERR_FILENO); /* for CHECK() */
    said = memfd_create("stderr", MFD_CLOEXEC);
    CHECK(before >= 0 && said >= 0 && unsetenv("TESSERA_QUIET") == 0 && fcntl(said, F_SETFL, O_APPEND) == 0 &&
          dup2(said, STDERR_FILENO) >= 0);
    stderr = fdopen(before, "w");
    refusals();
    bounds();
    return 0;
}
