#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_PTX = 1, MOST_LINKED = 64 };

/* What the linker made, by the file that it was made of: files have several cases. */
static struct linked {
    char path[4096];
    void *code;
} linked[MOST_LINKED];

static char *whole_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        exit(2);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

/* The linker's memory ends with it, so the code is copied. */
static void *link_text(char *text, size_t size)
{
    void *state, *made, *code;
    size_t bytes;
    CHECK(cuLinkCreate_v2(0, NULL, NULL, &state));
    CHECK(cuLinkAddData_v2(state, INPUT_PTX, text, size + 1, "module", 0, NULL, NULL));
    CHECK(cuLinkComplete(state, &made, &bytes));
    if (!(code = malloc(bytes)))
        exit(2);
    memcpy(code, made, bytes);
    CHECK(cuLinkDestroy(state));
    return code;
}

static void *linked_code(const char *path)
{
    int at = 0;
    while (at < MOST_LINKED && linked[at].code && strcmp(linked[at].path, path) != 0)
        at++;
    if (at == MOST_LINKED) {
        fprintf(stderr, "more than %d files to link\n", MOST_LINKED);
        exit(2);
    }
    if (!linked[at].code) {
        size_t size;
        char *text = whole_file(path, &size);
        if (!text)
            return NULL;
        snprintf(linked[at].path, sizeof linked[at].path, "%s", path);
        linked[at].code = link_text(text, size);
        free(text);
    }
    return linked[at].code;
}

/* As executors load fenced text: a library, and its module. */
static int module_of_library(CUmodule *module, void **library, const char *folder, const char *file)
{
    char path[4096];
    size_t size;
    snprintf(path, sizeof path, "%s/%s.relay.ptx", folder, file);
    char *text = whole_file(path, &size);
    if (!text)
        return 0;
    CHECK(cuLibraryLoadData(library, text, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetModule(module, *library));
    free(text);
    return 1;
}

int image_load(CUmodule *module, void **library, const char *folder, const char *file, const char *mode)
{
    char path[4096];
    size_t size;
    *library = NULL;
    if (strcmp(mode, "linked") == 0) {
        snprintf(path, sizeof path, "%s/%s.linked.ptx", folder, file);
        void *code = linked_code(path);
        if (code)
            CHECK(cuModuleLoadData(module, code));
        return code != NULL;
    }
    if (strcmp(mode, "relay") == 0)
        return module_of_library(module, library, folder, file);
    snprintf(path, sizeof path, "%s/%s.%s.cubin", folder, file, mode);
    char *image = whole_file(path, &size);
    if (!image) {
        snprintf(path, sizeof path, "%s/%s.%s.ptx", folder, file, mode);
        image = whole_file(path, &size);
    }
    if (!image)
        return 0;
    CHECK(cuModuleLoadData(module, image));
    free(image);
    return 1;
}

void image_unload(CUmodule module, void *library)
{
    if (library)
        CHECK(cuLibraryUnload(library));
    else
        CHECK(cuModuleUnload(module));
}

int image_is_original(const char *mode)
{
    return strcmp(mode, "native") == 0 || strcmp(mode, "jit") == 0 || strcmp(mode, "linked") == 0;
}
