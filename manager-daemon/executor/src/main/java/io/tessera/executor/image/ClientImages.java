package io.tessera.executor.image;

/**
 * Sources of the images of one client's code.
 *
 * @param offers the client's own offers: files that it has handed over
 * @param store  images that were read from files, of all clients
 */
public record ClientImages(ImageOffers offers, ImageStore store) {
}
