#include "relay/code/image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay/wire/relay.h"

/* Layouts as nvcc 13.0 and the fatbinary tool write them. */
#define WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC 0xba55ed50u
#define WRAPPER_LINKED 2u /* version of a wrapper whose second pointer leads to fat binaries to be linked */
#define MAX_LINKED 4096u

struct wrapper {
    uint32_t magic;
    uint32_t version;
    const void *data;
    const void *const *linked; /* ends with NULL; version 2 only */
};

struct fatbin_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t bytes; /* of all entries */
};

/*
 * A wrapper with several fat binaries is sent as this header, an offset for each piece, and the pieces, each padded to 8
 * bytes.
 */
struct pieces {
    uint32_t magic;
    uint32_t version;
    uint64_t count;
};

static uint32_t word_at(const void *address)
{
    uint32_t word;
    memcpy(&word, address, sizeof word);
    return word;
}

static size_t fatbin_bytes(const void *address)
{
    struct fatbin_header header;
    memcpy(&header, address, sizeof header);
    if (header.header_bytes < sizeof header || header.bytes > TESSERA_RELAY_BULK_MAX - header.header_bytes)
        return 0;
    return header.header_bytes + (size_t)header.bytes;
}

/* A cubin's end is the end of its section headers, or of the last section behind them. */
static size_t elf_bytes(const void *address)
{
    Elf64_Ehdr header;
    memcpy(&header, address, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) ||
        header.e_shoff > TESSERA_RELAY_BULK_MAX || header.e_phoff > TESSERA_RELAY_BULK_MAX)
        return 0;
    uint64_t end = header.e_shoff + (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    uint64_t programs_end = header.e_phoff + (uint64_t)header.e_phnum * header.e_phentsize;
    if (programs_end > end)
        end = programs_end;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, (const char *)address + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL)
            continue;
        if (section.sh_offset > TESSERA_RELAY_BULK_MAX || section.sh_size > TESSERA_RELAY_BULK_MAX)
            return 0;
        if (section.sh_offset + section.sh_size > end)
            end = section.sh_offset + section.sh_size;
    }
    return end < sizeof header || end > TESSERA_RELAY_BULK_MAX ? 0 : (size_t)end;
}

/* PTX begins with a comment, a directive or white space; the terminating zero belongs to the image. */
static size_t text_bytes(const char *text)
{
    if (!strchr("/.\n\r\t ", text[0]) || text[0] == 0)
        return 0;
    size_t length = strnlen(text, TESSERA_RELAY_BULK_MAX);
    return length == TESSERA_RELAY_BULK_MAX ? 0 : length + 1;
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/*
 * Concatenates the pieces of a wrapper of version 2: the linked image first, then the images that it was linked from.
 */
static int join(const struct wrapper *wrapper, size_t count, struct image *image)
{
    size_t total = sizeof(struct pieces) + (count + 1) * sizeof(uint64_t);
    for (size_t i = 0; i <= count; i++) {
        const void *piece = i == 0 ? wrapper->data : wrapper->linked[i - 1];
        size_t bytes = word_at(piece) == FATBIN_MAGIC ? fatbin_bytes(piece) : 0;
        if (bytes == 0 || padded(bytes) > TESSERA_RELAY_BULK_MAX - total)
            return CUDA_ERROR_INVALID_IMAGE;
        total += padded(bytes);
    }
    unsigned char *joined = calloc(1, total);
    if (!joined)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *(struct pieces *)joined = (struct pieces){WRAPPER_MAGIC, WRAPPER_LINKED, count + 1};
    uint64_t *offsets = (uint64_t *)(joined + sizeof(struct pieces));
    uint64_t place = sizeof(struct pieces) + (count + 1) * sizeof(uint64_t);
    for (size_t i = 0; i <= count; i++) {
        const void *piece = i == 0 ? wrapper->data : wrapper->linked[i - 1];
        size_t bytes = fatbin_bytes(piece);
        offsets[i] = place;
        memcpy(joined + place, piece, bytes);
        place += padded(bytes);
    }
    *image = (struct image){joined, total, joined};
    return CUDA_SUCCESS;
}

static int measure_wrapper(const void *address, struct image *image)
{
    struct wrapper wrapper;
    memcpy(&wrapper, address, sizeof wrapper);
    if (!wrapper.data)
        return CUDA_ERROR_INVALID_IMAGE;
    size_t count = 0;
    if (wrapper.version == WRAPPER_LINKED && wrapper.linked)
        while (count < MAX_LINKED && wrapper.linked[count])
            count++;
    if (count == MAX_LINKED)
        return CUDA_ERROR_INVALID_IMAGE;
    if (count != 0)
        return join(&wrapper, count, image);
    size_t bytes = word_at(wrapper.data) == FATBIN_MAGIC ? fatbin_bytes(wrapper.data) : 0;
    *image = (struct image){wrapper.data, bytes, NULL};
    return bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

int image_measure(const void *address, struct image *image)
{
    *image = (struct image){0};
    if (!address)
        return CUDA_ERROR_INVALID_VALUE;
    size_t bytes;
    /* Only the first byte is read at first: a text may be shorter than a magic number. */
    unsigned char first = *(const unsigned char *)address;
    if (first == (WRAPPER_MAGIC & 0xff) && word_at(address) == WRAPPER_MAGIC)
        return measure_wrapper(address, image);
    if (first == (FATBIN_MAGIC & 0xff) && word_at(address) == FATBIN_MAGIC)
        bytes = fatbin_bytes(address);
    else if (first == ELFMAG0 && memcmp(address, ELFMAG, SELFMAG) == 0)
        bytes = elf_bytes(address);
    else
        bytes = text_bytes(address);
    *image = (struct image){address, bytes, NULL};
    return bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

static int read_all(int file, struct image *image)
{
    struct statx facts; /* statx: fstat() of glibc before 2.33 is another symbol */
    if (statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &facts) != 0 || !S_ISREG(facts.stx_mode))
        return CUDA_ERROR_FILE_NOT_FOUND;
    if (facts.stx_size == 0 || facts.stx_size >= TESSERA_RELAY_BULK_MAX)
        return CUDA_ERROR_INVALID_IMAGE;
    size_t bytes = (size_t)facts.stx_size;
    char *contents = malloc(bytes + 1);
    if (!contents)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t done = 0;
    while (done < bytes) {
        ssize_t count = read(file, contents + done, bytes - done);
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    contents[done] = 0;
    *image = (struct image){contents, done + 1, contents};
    return done == bytes ? CUDA_SUCCESS : CUDA_ERROR_FILE_NOT_FOUND;
}

int image_read_file(const char *path, struct image *image)
{
    *image = (struct image){0};
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    int result = read_all(file, image);
    close(file);
    return result;
}

void image_release(struct image *image)
{
    free(image->owned);
    image->owned = NULL;
}
