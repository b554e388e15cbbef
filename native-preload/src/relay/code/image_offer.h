/*
 * Images that need not travel: the executor gets the file that they are in (RELAY.md, section 8).
 */
#ifndef TESSERA_RELAY_IMAGE_OFFER_H
#define TESSERA_RELAY_IMAGE_OFFER_H

#include "relay/code/image.h"
#include "relay/wire/relay.h"

#define IMAGE_OFFER_REFUSED CUDA_ERROR_FILE_NOT_FOUND /* the executor's answer where it cannot use the file */

/*
 * Whether a call may name the image by `reference`, once; false: its bytes have to go. A call that answers
 * IMAGE_OFFER_REFUSED is to be made again with the bytes.
 */
bool image_offer(struct relay_link *link, const struct image *image, struct tessera_image_reference *reference);

#endif
