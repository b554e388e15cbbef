package io.tessera.guardian.trust;

import io.tessera.guardian.image.ImageExtent;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.LocalDate;
import java.util.HexFormat;

/**
 * One image that may run as it is. Immutable.
 *
 * @param hash  SHA-256 of the image up to its declared end, 64 lower-case hexadecimal digits
 * @param since the day on which it was trusted
 * @param name  where it was found, for people: a file's name and the part of it
 */
public record TrustedImage(String hash, LocalDate since, String name) {
    private static final String HASH = "[0-9a-f]{64}";

    /** Checks the hash; a name's line ends become blanks. */
    public TrustedImage {
        if (!hash.matches(HASH)) {
            throw new IllegalArgumentException("no SHA-256: " + hash);
        }
        name = name.replaceAll("\\p{Cntrl}", " ").strip();
    }

    /** The hash of an image as a program gave it to the driver; what lies behind its declared end does not count. */
    public static String hashOf(byte[] image) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(image, 0, ImageExtent.of(image));
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
