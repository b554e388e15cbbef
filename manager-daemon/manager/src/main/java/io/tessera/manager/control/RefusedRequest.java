package io.tessera.manager.control;

/** A request that is answered with an error; the connection stays. */
final class RefusedRequest extends Exception {
    private static final long serialVersionUID = 1L;

    /** With a sentence for the requester. */
    RefusedRequest(String sentence) {
        super(sentence);
    }
}
