/* One kernel in several forms on the same data: times, results, what the compiler made of it. */
#ifndef FENCES_MEASURE_H
#define FENCES_MEASURE_H

#include "cases.h"
#include "window.h"

enum { MOST_FORMS = 7, MOST_ROUNDS = 200 };

/* A form of the kernel: the original, or fenced with some mode. */
struct form {
    const char *mode;
    CUmodule module;
    void *library; /* that it is the module of; NULL: none */
    CUfunction function;
    int registers, localBytes, refused;
    float times[MOST_ROUNDS];
    double microseconds;
    unsigned long long differences;
    unsigned violations;
};

struct device {
    struct window window;
    CUfunction compare;
    CUdeviceptr count;
    CUstream stream;
    CUevent begin, end;
};

void device_open(struct device *device, const char *folder);
/* Loads the code of a form; 0 if there is none. */
int form_load(struct device *device, struct form *form, const char *folder, const char *file, const char *kernel);
/* Runs a case in all forms that were loaded, the first of which is the original. */
void measure(struct device *device, const struct fenced_case *what, struct form *forms, int count, int rounds);

#endif
