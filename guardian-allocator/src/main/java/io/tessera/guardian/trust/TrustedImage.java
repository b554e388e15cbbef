package io.tessera.guardian.trust;

import java.time.LocalDate;

/**
 * One image that may run unfenced. Immutable.
 *
 * @param hash  {@link io.tessera.guardian.image.ModuleImage#hash}
 * @param since the day on which it was trusted
 * @param name  where it was found, for the reader: the name of a file and the part of it
 */
public record TrustedImage(String hash, LocalDate since, String name) {
    private static final String HASH = "[0-9a-f]{64}";

    /** Checks the hash; a name's line ends become blanks. */
    public TrustedImage {
        if (!isHash(hash)) {
            throw new IllegalArgumentException("no SHA-256: " + hash);
        }
        name = name.replaceAll("\\p{Cntrl}", " ").strip();
    }

    /** Returns whether a word has the form of an image's hash. */
    public static boolean isHash(String word) {
        return word.matches(HASH);
    }
}
