package io.tessera.software.compile;

/** A form of an instruction that an emitter lacks; thrown before it has emitted anything. */
final class LeftToInterpreterException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LeftToInterpreterException(String spelling) {
        super(spelling, null, false, false);
    }
}
