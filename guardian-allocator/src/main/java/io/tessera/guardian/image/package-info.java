/**
 * Module images as programs hand them to the driver: fat binaries, cubins, PTX text and LTO-IR. They come from clients
 * and are trusted in nothing: every length is checked before it is used, and nothing unpacks to more than a bound ({@link
 * io.tessera.guardian.image.ModuleImage}, {@link io.tessera.guardian.image.FatBinary}).
 *
 * <p>JDK and Airlift's compressor for LZ4 and zstd. No type here has state that changes.
 */
package io.tessera.guardian.image;
