package io.tessera.protocol.message;

/** A packet that is no message of this protocol. The connection that it came from ends; nobody else is touched. */
public final class MalformedMessageException extends Exception {
    private static final long serialVersionUID = 1L;

    private final RefusalCode code;

    /** With the code that the peer is refused with and a sentence that it is told. */
    public MalformedMessageException(RefusalCode code, String reason) {
        super(reason);
        this.code = code;
    }

    /** What the peer is refused with: {@link RefusalCode#VERSION} or {@link RefusalCode#MALFORMED}. */
    public RefusalCode code() {
        return code;
    }
}
