package io.tessera.executor.fence;

import io.tessera.guardian.image.ImageExtent;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** What images are called in front of users: the first digits of the SHA-256 of their bytes. Stateless. */
final class ImageLabel {
    private static final int BYTES = 6;

    private ImageLabel() {
    }

    static String of(byte[] image) {
        return HexFormat.of().formatHex(hash(image), 0, BYTES);
    }

    /** The whole hash; what lies behind the image's declared end does not count. */
    static byte[] hash(byte[] image) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(image, 0, ImageExtent.of(image));
            return digest.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
