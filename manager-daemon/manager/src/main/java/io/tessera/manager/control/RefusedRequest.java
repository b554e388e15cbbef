package io.tessera.manager.control;

/** Refusal of a request, which is answered with an error; the connection stays open. */
final class RefusedRequest extends Exception {
    private static final long serialVersionUID = 1L;

    /** Creates a refusal with a sentence for the requester. */
    RefusedRequest(String sentence) {
        super(sentence);
    }
}
