package io.tessera.executor.image;

/**
 * Where images of one client's code come from.
 *
 * @param offers files that it has handed over; of its own
 * @param store  images that were read from files, of all clients
 */
public record ClientImages(ImageOffers offers, ImageStore store) {
}
