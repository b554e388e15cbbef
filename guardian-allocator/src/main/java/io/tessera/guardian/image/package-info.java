/**
 * Module images as programs hand them to the driver: fat binaries, cubins, PTX text and LTO-IR. They come from clients and are not trusted: every
 * length is checked before it is used, and the unpacked size is bounded ({@link io.tessera.guardian.image.ModuleImage}, {@link
 * io.tessera.guardian.image.FatBinary}).
 *
 * <p>JDK and Airlift's compressor for LZ4 and zstd. All types here are immutable.
 */
package io.tessera.guardian.image;
