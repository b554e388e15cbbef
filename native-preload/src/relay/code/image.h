/*
 * Module images of which a program gives only the address: how long they are, and what travels.
 *
 * Known: a fat binary wrapper (what nvcc puts into programs), a raw fat binary, a cubin (ELF), and PTX text.
 */
#ifndef TESSERA_RELAY_IMAGE_H
#define TESSERA_RELAY_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* An image as it is sent. Release with image_release() in any case. */
struct image {
    const void *data;
    size_t bytes;
    void *owned; /* memory made for it: images in several pieces; NULL: data is the program's own memory */
};

/*
 * Measures the image at an address and, where it has several pieces, makes one of it. Nothing is read beyond what the
 * image's own headers say is there. Returns 0, CUDA_ERROR_INVALID_IMAGE where it is none of the known kinds or its
 * lengths contradict each other or the most that a call carries, or CUDA_ERROR_OUT_OF_MEMORY.
 */
int image_measure(const void *address, struct image *image);

/*
 * The contents of a file as an image: CUDA_ERROR_FILE_NOT_FOUND where it cannot be opened or read. A zero byte follows
 * the contents, so that PTX ends there.
 */
int image_read_file(const char *path, struct image *image);

void image_release(struct image *image);

#endif
