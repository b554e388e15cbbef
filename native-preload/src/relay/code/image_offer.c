#include "relay/code/image_offer.h"

#include <unistd.h>

#include "relay/code/image_file.h"
#include "relay/executor/fd_request.h"

/* For smaller images, the system calls that find the file cost more than sending the bytes. */
#define LEAST_BYTES (256u << 10)

static bool ask(struct relay_link *link, int file, uint64_t offset, uint64_t bytes, uint64_t *number)
{
    struct tessera_image image = {.offset = offset, .bytes = bytes};
    const struct fd_request request = {&image.head, TESSERA_MSG_IMAGE,       sizeof image,
                                       file,        TESSERA_MSG_IMAGE_TAKEN, sizeof(struct tessera_image_taken)};
    _Alignas(8) char buffer[FD_REQUEST_ANSWER_BYTES];
    int none = -1;
    if (fd_request_send(link, &request, buffer, &none) != CUDA_SUCCESS)
        return false;
    if (none >= 0)
        close(none);
    const struct tessera_image_taken *taken = (const struct tessera_image_taken *)(const void *)buffer;
    *number = taken->number;
    return taken->result == CUDA_SUCCESS;
}

bool image_offer(struct relay_link *link, const struct image *image, struct tessera_image_reference *reference)
{
    int file;
    uint64_t offset;
    if (image->owned || image->bytes < LEAST_BYTES || !image_file_find(image->data, image->bytes, &file, &offset))
        return false;
    *reference = (struct tessera_image_reference){.magic = TESSERA_RELAY_IMAGE_MAGIC};
    bool taken = ask(link, file, offset, image->bytes, &reference->number);
    close(file);
    return taken;
}
