/* Modules, libraries and the kernels looked up in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "streams/capture.h"
#include "modules/content_kernel.h"
#include "entry.h"
#include "modules/function.h"
#include "memory/memory.h"

static CUresult load(struct module **out, const void *image, bool library)
{
    if (!out || !image)
        return ERROR_INVALID_VALUE;
    LOCKED;
    struct context *c;
    CUresult error = library ? OK : context_current(&c);
    if (error)
        return error;
    struct module *m = calloc(1, sizeof *m);
    if (!m)
        return ERROR_OUT_OF_MEMORY;
    m->library = library;
    handle_add(library ? HANDLE_LIBRARY : HANDLE_MODULE, m);
    *out = m;
    return OK;
}

static CUresult load_file(struct module **out, const char *path, bool library)
{
    if (!path)
        return ERROR_INVALID_VALUE;
    return access(path, R_OK) == 0 ? load(out, path, library) : ERROR_FILE_NOT_FOUND;
}

EXPORT CUresult cuModuleLoad(struct module **out, const char *path)
{
    ENTER(cuModuleLoad);
    return load_file(out, path, false);
}

EXPORT CUresult cuModuleLoadData(struct module **out, const void *image)
{
    ENTER(cuModuleLoadData);
    return load(out, image, false);
}

EXPORT CUresult cuModuleLoadDataEx(struct module **out, const void *image, unsigned count, int *options, void **values)
{
    ENTER(cuModuleLoadDataEx);
    (void)count, (void)options, (void)values;
    return load(out, image, false);
}

EXPORT CUresult cuModuleLoadFatBinary(struct module **out, const void *image)
{
    ENTER(cuModuleLoadFatBinary);
    return load(out, image, false);
}

EXPORT CUresult cuLibraryLoadData(struct module **out, const void *image, int *jit_options, void **jit_values,
                                  unsigned jit_count, int *options, void **values, unsigned count)
{
    ENTER(cuLibraryLoadData);
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return load(out, image, true);
}

EXPORT CUresult cuLibraryLoadFromFile(struct module **out, const char *path, int *jit_options, void **jit_values,
                                      unsigned jit_count, int *options, void **values, unsigned count)
{
    ENTER(cuLibraryLoadFromFile);
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return load_file(out, path, true);
}

/* Functions stay allocated: work may still point to them. */
static CUresult unload(struct module *m, enum handle_kind kind)
{
    LOCKED;
    if (!handle_drop(kind, m))
        return ERROR_INVALID_HANDLE;
    for (unsigned i = 0; i < m->count; i++)
        handle_drop(m->library ? HANDLE_KERNEL : HANDLE_FUNCTION, m->functions[i]);
    for (unsigned i = 0; i < m->global_count; i++) {
        struct allocation *a = allocation_at(m->globals[i]);
        if (a && a->kind == ALLOCATION_GLOBAL) /* else it ended with its context */
            memory_free(a);
    }
    free(m);
    return OK;
}

EXPORT CUresult cuModuleUnload(struct module *m)
{
    ENTER(cuModuleUnload);
    return unload(m, HANDLE_MODULE);
}

EXPORT CUresult cuLibraryUnload(struct module *m)
{
    ENTER(cuLibraryUnload);
    return unload(m, HANDLE_LIBRARY);
}

static enum operation operation_of(const char *name)
{
    static const struct {
        const char *name;
        enum operation operation;
    } known[] = {{"scripted_sleep_us", OPERATION_SLEEP},
                 {"scripted_fill", OPERATION_FILL},
                 {"scripted_add", OPERATION_ADD},
                 {"scripted_fault", OPERATION_FAULT},
                 {CONTENT_KERNEL, OPERATION_CONTENT}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].operation;
    return OPERATION_NONE;
}

static CUresult look_up(struct function **out, struct module *m, enum handle_kind kind, const char *name)
{
    if (!out || !name || strlen(name) >= sizeof(*out)->name)
        return ERROR_INVALID_VALUE;
    LOCKED;
    if (!handle_is(kind, m))
        return ERROR_INVALID_HANDLE;
    for (unsigned i = 0; i < m->count; i++)
        if (strcmp(m->functions[i]->name, name) == 0) {
            *out = m->functions[i];
            return OK;
        }
    struct function *f = script_kernel_missing(name) || m->count == 64 ? NULL : calloc(1, sizeof *f);
    if (!f)
        return ERROR_NOT_FOUND;
    strcpy(f->name, name);
    f->module = m;
    f->operation = operation_of(name);
    f->attributes[0] = 1024; /* threads of a block */
    f->attributes[4] = 32;   /* registers */
    f->attributes[5] = f->attributes[6] = 90;
    f->attributes[8] = 49152; /* dynamic shared memory */
    handle_add(m->library ? HANDLE_KERNEL : HANDLE_FUNCTION, f);
    m->functions[m->count++] = f;
    *out = f;
    return OK;
}

/* The kind of an object used as a module: cuLibraryGetModule answers with the library itself. */
static enum handle_kind kind_of(const struct module *m)
{
    LOCKED;
    return handle_is(HANDLE_LIBRARY, m) ? HANDLE_LIBRARY : HANDLE_MODULE;
}

EXPORT CUresult cuModuleGetFunction(struct function **out, struct module *m, const char *name)
{
    ENTER(cuModuleGetFunction);
    return look_up(out, m, kind_of(m), name);
}

EXPORT CUresult cuLibraryGetKernel(struct function **out, struct module *m, const char *name)
{
    ENTER(cuLibraryGetKernel);
    return look_up(out, m, HANDLE_LIBRARY, name);
}

EXPORT CUresult cuLibraryGetModule(struct module **out, struct module *m)
{
    ENTER(cuLibraryGetModule);
    LOCKED;
    if (!out || !handle_is(HANDLE_LIBRARY, m))
        return ERROR_INVALID_HANDLE;
    *out = m;
    return OK;
}

EXPORT CUresult cuKernelGetFunction(struct function **out, struct function *kernel)
{
    ENTER(cuKernelGetFunction);
    LOCKED;
    if (!out || !handle_is(HANDLE_KERNEL, kernel))
        return ERROR_INVALID_HANDLE;
    *out = kernel;
    return OK;
}

/* Those of the kernel that looks at memory are as large as it says; any other has 256 bytes. */
static size_t global_bytes(const char *name)
{
    if (strcmp(name, CONTENT_WORDS) == 0)
        return CONTENT_WORDS_BYTES;
    return strcmp(name, CONTENT_NUMBERS) == 0 ? CONTENT_NUMBERS_BYTES : 256;
}

CUresult module_global(struct module *m, const char *name, CUdeviceptr *pointer, size_t *bytes)
{
    unsigned i = 0;
    while (i < m->global_count && strcmp(m->global_names[i], name) != 0)
        i++;
    if (i == m->global_count) {
        struct context *c;
        struct allocation *a;
        CUresult error = context_current(&c);
        if (!error && (i == 16 || script_kernel_missing(name)))
            error = ERROR_NOT_FOUND;
        if (!error)
            error = memory_allocate(global_bytes(name), ALLOCATION_GLOBAL, false, c, &a);
        if (error)
            return error;
        strcpy(m->global_names[i], name);
        m->globals[m->global_count++] = a->base;
    }
    if (pointer)
        *pointer = m->globals[i];
    if (bytes)
        *bytes = global_bytes(name);
    return OK;
}

static CUresult global(CUdeviceptr *pointer, size_t *bytes, struct module *m, enum handle_kind kind, const char *name)
{
    LOCKED;
    if (!handle_is(kind, m) || !name || strlen(name) >= sizeof m->global_names[0])
        return ERROR_INVALID_VALUE;
    return module_global(m, name, pointer, bytes);
}

EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, struct module *m, const char *name)
{
    ENTER(cuModuleGetGlobal_v2);
    return global(pointer, bytes, m, kind_of(m), name);
}

EXPORT CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, struct module *m, const char *name)
{
    ENTER(cuLibraryGetGlobal);
    return global(pointer, bytes, m, HANDLE_LIBRARY, name);
}
