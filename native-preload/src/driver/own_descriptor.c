#include "driver/own_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int own_descriptor(int descriptor)
{
    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return descriptor;
    int above = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(descriptor);
    errno = error;
    return above;
}
