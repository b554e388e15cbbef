package io.tessera.guardian.image;

/** Bytes are not the module image that they claim to be, or would unpack to more than is allowed. */
public final class ImageException extends Exception {
    private static final long serialVersionUID = 1;

    /**
     * A finding.
     *
     * @param what what is wrong, with offsets and sizes in bytes
     */
    public ImageException(String what) {
        super(what);
    }

    /**
     * A finding of a decompressor.
     *
     * @param what  what is wrong
     * @param cause what the decompressor said
     */
    public ImageException(String what, Throwable cause) {
        super(what, cause);
    }
}
