/* Images that are not sent: the executor gets the file that contains them (RELAY.md, section 8). */
#ifndef TESSERA_RELAY_IMAGE_OFFER_H
#define TESSERA_RELAY_IMAGE_OFFER_H

#include "relay/code/image.h"
#include "relay/wire/relay.h"

#define IMAGE_OFFER_REFUSED CUDA_ERROR_FILE_NOT_FOUND /* the executor cannot use the file */

/*
 * Whether a call may name the image by `reference`, once. False: the image's bytes have to be sent. After
 * IMAGE_OFFER_REFUSED the caller repeats the call with the bytes.
 */
bool image_offer(struct relay_link *link, const struct image *image, struct tessera_image_reference *reference);

#endif
