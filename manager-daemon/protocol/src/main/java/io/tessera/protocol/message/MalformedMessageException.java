package io.tessera.protocol.message;

/** A packet that is not a message of this protocol. Its connection ends; others are not affected. */
public final class MalformedMessageException extends Exception {
    private static final long serialVersionUID = 1L;

    private final RefusalCode code;

    /** Creates an exception with the code of the refusal and a sentence for the peer. */
    public MalformedMessageException(RefusalCode code, String reason) {
        super(reason);
        this.code = code;
    }

    /** Returns the code of the refusal: {@link RefusalCode#VERSION} or {@link RefusalCode#MALFORMED}. */
    public RefusalCode code() {
        return code;
    }
}
