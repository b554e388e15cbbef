package io.tessera.guardian.cache;

import io.tessera.guardian.image.ModuleImage;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.stream.IntStream;

/**
 * The name of an entry: SHA-256 over an image and a {@link CodeIdentity}, so that a lookup never finds code that was made from another image.
 * Immutable.
 *
 * @param hex 64 lower-case hexadecimal digits
 */
public record CacheKey(String hex) {
    /** Bytes of the hash. */
    static final int BYTES = 32;
    private static final int HEX_DIGITS = 2 * BYTES;
    private static final int PART_BYTES = 1 << 20;

    /** Checks the form. */
    public CacheKey {
        if (!isHex(hex)) {
            throw new IllegalArgumentException("no key: " + hex);
        }
    }

    /**
     * Returns the key of code that is made from an image.
     *
     * @param image    the image as a program passed it to the driver; bytes behind its declared end do not count, so that the image in a file and in
     *                 a program's memory have the same key
     * @param identity identity of the code
     */
    public static CacheKey of(ModuleImage image, CodeIdentity identity) {
        return ofHash(HexFormat.of().parseHex(image.hash()), identity);
    }

    private static CacheKey ofHash(byte[] image, CodeIdentity identity) {
        MessageDigest digest = sha256();
        // Lengths before the texts, and the image hashed on its own: no two different inputs are the same bytes.
        digest.update(image);
        for (String part : new String[] {identity.mode(), identity.rewriterVersion(),
                identity.architecture(), identity.compiler(), identity.options()}) {
            byte[] text = part.getBytes(StandardCharsets.UTF_8);
            for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
                digest.update((byte) (text.length >>> shift));
            }
            digest.update(text);
        }
        return new CacheKey(HexFormat.of().formatHex(digest.digest()));
    }

    /**
     * As above, for a large image, whose parts of 1 MiB are hashed in parallel on all free processors. The hash of the image is the hash of the
     * parts' hashes in sequence.
     *
     * @param bytes all of them count
     */
    public static CacheKey ofLarge(byte[] bytes, CodeIdentity identity) {
        int parts = Math.ceilDiv(bytes.length, PART_BYTES);
        byte[] hashes = new byte[parts * BYTES];
        IntStream.range(0, parts).parallel().forEach(part -> {
            MessageDigest digest = sha256();
            digest.update(bytes, part * PART_BYTES, Math.min(PART_BYTES, bytes.length - part * PART_BYTES));
            System.arraycopy(digest.digest(), 0, hashes, part * BYTES, BYTES);
        });
        return ofHash(sha256().digest(hashes), identity);
    }

    /** As above, for an image in an array. */
    public static CacheKey of(byte[] image, CodeIdentity identity) {
        return of(ModuleImage.of(image), identity);
    }

    /** The hash itself, in a new array. */
    byte[] bytes() {
        return HexFormat.of().parseHex(hex);
    }

    /** Returns whether a text is a key. */
    static boolean isHex(String text) {
        return text.length() == HEX_DIGITS
                && text.chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return hex.substring(0, 12);
    }
}
