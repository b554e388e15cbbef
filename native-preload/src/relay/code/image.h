/*
 * Module images that a program gives by address alone: their length, and the bytes that are sent.
 *
 * Known kinds: a fat binary wrapper (nvcc puts it into programs), a raw fat binary, a cubin (ELF), and PTX text.
 */
#ifndef TESSERA_RELAY_IMAGE_H
#define TESSERA_RELAY_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* An image as it is sent. Release with image_release() in any case. */
struct image {
    const void *data;
    size_t bytes;
    void *owned; /* allocated for images in several pieces; NULL: data is the program's own memory */
};

/*
 * Measures the image at an address, and joins the pieces of an image that has several. Reads nothing beyond the lengths
 * in the image's own headers. Returns 0 or CUDA_ERROR_OUT_OF_MEMORY; CUDA_ERROR_INVALID_IMAGE: the kind is unknown,
 * lengths contradict each other, or the image is larger than a call can carry.
 */
int image_measure(const void *address, struct image *image);

/*
 * Reads a file as an image. CUDA_ERROR_FILE_NOT_FOUND: the file cannot be opened or read. A zero byte follows the
 * contents, since PTX is text.
 */
int image_read_file(const char *path, struct image *image);

void image_release(struct image *image);

#endif
