/* Images with changed bytes: text, machine code and fat binaries. Each mutant follows from its number. */
#include <stdlib.h>
#include <stdio.h>

#include "odd.h"

/* What the compiler made of odd_image.cu: whole machine code, and a packed fat binary of text and machine code. */
#define IMAGE(name, file)                                                                                              \
    __asm__(".pushsection .rodata\n.balign 16\n" #name ":\n.incbin \"" ODD_IMAGES "/" file "\"\n" #name                \
            "_end:\n.byte 0\n.popsection\n");                                                                          \
    extern const unsigned char name[], name##_end[]
IMAGE(odd_cubin, "odd_image.cubin");
IMAGE(odd_fatbin, "odd_image.fatbin");

enum { MUTANTS = 200, ROOM = 1 << 20 };

static uint64_t state;

static uint64_t random_word(void)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t value = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

/* Loads an image, and asks the functions of what could be loaded. Launches nothing: code of mutants may run for ever. */
static void load(const void *image)
{
    CUmodule module;
    CUfunction function;
    int value;
    if (QUIET(cuModuleLoadData, &module, image) != CUDA_SUCCESS)
        return;
    if (QUIET(cuModuleGetFunction, &function, module, "odd_kernel") == CUDA_SUCCESS)
        QUIET(cuFuncGetAttribute, &value, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
    QUIET(cuModuleUnload, module);
}

/* Changes 1 to 4 places behind a beginning that stays: bytes, bits or words. */
static void change(unsigned char *image, size_t size, size_t stays)
{
    for (int changes = 1 + random_word() % 4; changes > 0; changes--) {
        size_t at = stays + random_word() % (size - stays - 8);
        switch (random_word() % 4) {
        case 0:
            image[at] ^= 1 << random_word() % 8;
            break;
        case 1:
            image[at] = (unsigned char)random_word();
            break;
        case 2:
            memset(image + at, 0xff, 4);
            break;
        default:
            memset(image + at, 0, 8);
        }
    }
}

/* Room behind the image: a size that grew leads to zeros of ours, as in a file that is mapped. */
static void mutate(const unsigned char *image, size_t size, size_t stays, size_t within)
{
    unsigned char *copy = calloc(1, ROOM);
    for (int number = 0; copy && size < ROOM && number < MUTANTS; number++) {
        state = (uint64_t)number << 32 | 77;
        memcpy(copy, image, size);
        change(copy, within < size ? within : size, stays);
        printf("cuModuleLoadData of mutant %d\n", number);
        fflush(stdout);
        load(copy);
    }
    free(copy);
}

static size_t cubin_size(void)
{
    return (size_t)(odd_cubin_end - odd_cubin);
}

static size_t fatbin_size(void)
{
    return (size_t)(odd_fatbin_end - odd_fatbin);
}

static void mutants_of_text(void)
{
    mutate((const unsigned char *)odd_text, strlen(odd_text) + 1, 0, ~(size_t)0);
}

static void mutants_of_machine_code(void)
{
    mutate(odd_cubin, cubin_size(), 4, ~(size_t)0);
}

static void mutants_of_headers_of_machine_code(void)
{
    mutate(odd_cubin, cubin_size(), 4, 64);
}

/* Section headers lie at the end. */
static void mutants_of_sections_of_machine_code(void)
{
    mutate(odd_cubin, cubin_size(), cubin_size() - cubin_size() / 4, ~(size_t)0);
}

static void mutants_of_fat_binaries(void)
{
    mutate(odd_fatbin, fatbin_size(), 8, ~(size_t)0);
}

static void mutants_of_headers_of_fat_binaries(void)
{
    mutate(odd_fatbin, fatbin_size(), 4, 96);
}

/* The end is cut off and zeros follow. */
static void cut(const unsigned char *image, size_t size)
{
    unsigned char *copy = calloc(1, ROOM);
    for (int part = 0; copy && size < ROOM && part < 100; part++) {
        memset(copy, 0, size);
        memcpy(copy, image, size * part / 100);
        printf("cuModuleLoadData of %zu bytes of %zu\n", size * part / 100, size);
        fflush(stdout);
        load(copy);
    }
    free(copy);
}

static void machine_code_cut(void)
{
    cut(odd_cubin, cubin_size());
}

static void fat_binary_cut(void)
{
    cut(odd_fatbin, fatbin_size());
}

static void text_cut(void)
{
    cut((const unsigned char *)odd_text, strlen(odd_text));
}

static void mutants_linked(void)
{
    static unsigned char copy[ROOM];
    for (int number = 0; number < 60; number++) {
        const unsigned char *image = number % 2 ? odd_cubin : odd_fatbin;
        size_t size = number % 2 ? cubin_size() : fatbin_size();
        CUlinkState linker;
        void *linked;
        state = (uint64_t)number << 32 | 99;
        memcpy(copy, image, size);
        change(copy, size, 4);
        printf("cuLinkAddData of mutant %d\n", number);
        fflush(stdout);
        if (QUIET(cuLinkCreate, 0, NULL, NULL, &linker) != CUDA_SUCCESS)
            return;
        CUjitInputType kind = number % 2 ? CU_JIT_INPUT_CUBIN : CU_JIT_INPUT_FATBINARY;
        if (QUIET(cuLinkAddData, linker, kind, copy, size, "mutant", 0, NULL, NULL) == CUDA_SUCCESS)
            QUIET(cuLinkComplete, linker, &linked, &size);
        QUIET(cuLinkDestroy, linker);
    }
}

/* Braces and parentheses deep enough to end a compiler that recurses. */
static void text_nested_deeply(void)
{
    static char text[ROOM];
    size_t at = (size_t)snprintf(text, sizeof text,
                                 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry deep() {\n");
    for (int depth = 0; depth < 100000; depth++)
        text[at++] = '{';
    for (int depth = 0; depth < 100000; depth++)
        text[at++] = '}';
    memcpy(text + at, "ret; }\n", 8);
    odd_say("100,000 blocks within each other");
    load(text);
    at = (size_t)snprintf(text, sizeof text, ".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 deep = ");
    memset(text + at, '(', 100000);
    at += 100000;
    text[at++] = '1';
    memset(text + at, ')', 100000);
    at += 100000;
    memcpy(text + at, ";\n", 3);
    odd_say("100,000 parentheses within each other");
    load(text);
}

const struct odd_case odd_mutants[] = {
    ODD_CASE(mutants_of_text, "200 mutants of text are loaded"),
    ODD_CASE(mutants_of_machine_code, "200 mutants of machine code are loaded"),
    ODD_CASE(mutants_of_headers_of_machine_code, "200 mutants of the header of machine code are loaded"),
    ODD_CASE(mutants_of_sections_of_machine_code, "200 mutants of the section headers of machine code are loaded"),
    ODD_CASE(mutants_of_fat_binaries, "200 mutants of a fat binary are loaded"),
    ODD_CASE(mutants_of_headers_of_fat_binaries, "200 mutants of the headers of a fat binary are loaded"),
    ODD_CASE(machine_code_cut, "machine code whose end is missing is loaded"),
    ODD_CASE(fat_binary_cut, "a fat binary whose end is missing is loaded"),
    ODD_CASE(text_cut, "text whose end is missing is loaded"),
    ODD_CASE(mutants_linked, "60 mutants of machine code and fat binaries are linked"),
    ODD_CASE(text_nested_deeply, "text of 100,000 blocks and parentheses within each other is loaded"),
    {0},
};
