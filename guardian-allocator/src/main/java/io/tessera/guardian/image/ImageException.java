package io.tessera.guardian.image;

/** Bytes are not the module image that they claim to be, or would unpack to more than is allowed. */
public final class ImageException extends Exception {
    private static final long serialVersionUID = 1;

    /**
     * Creates an exception for a malformed image.
     *
     * @param what description of the error, with offsets and sizes in bytes
     */
    public ImageException(String what) {
        super(what);
    }

    /**
     * Creates an exception for an error of a decompressor.
     *
     * @param what  description of the error
     * @param cause the decompressor's exception
     */
    public ImageException(String what, Throwable cause) {
        super(what, cause);
    }
}
