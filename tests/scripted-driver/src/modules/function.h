/* Kernels: named operations. A name that is not known computes nothing and takes the time that the script says. */
#ifndef SCRIPTED_FUNCTION_H
#define SCRIPTED_FUNCTION_H

#include "driver.h"

struct module;
struct stream;
struct work;

enum operation {
    OPERATION_NONE,
    OPERATION_SLEEP,
    OPERATION_FILL,
    OPERATION_ADD,
    OPERATION_FAULT,
    OPERATION_CONTENT, /* content_kernel.h */
};

struct function {
    char name[96];
    struct module *module;
    enum operation operation;
    int attributes[16];
    bool loaded; /* its code lies on the device */
};

/* A module or a library; the image is not looked at. */
struct module {
    struct function *functions[64];
    unsigned count;
    bool library;
    CUdeviceptr globals[16]; /* made when first asked for */
    char global_names[16][64];
    unsigned global_count;
};

/* The parameter's place in the kernel's parameter block; false past the last. */
bool function_parameter(const struct function *function, size_t index, size_t *offset, size_t *bytes);

/* A kernel handle stands for its function. NULL: neither. Under the lock. */
struct function *function_of(void *handle);

/* Work for a launch of this many blocks, with the parameters copied. Under the lock. */
CUresult function_work(void *handle, unsigned blocks, void **parameters, void **extra, struct work **work);

/* Computes. No lock. */
CUresult function_execute(const struct work *work);

/* Where a global variable of the module lies, and how large it is. Every module has any that is asked for. Either may be NULL. Under the lock. */
CUresult module_global(struct module *module, const char *name, CUdeviceptr *pointer, size_t *bytes);

#endif
