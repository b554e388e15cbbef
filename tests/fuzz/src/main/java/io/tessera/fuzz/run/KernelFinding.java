package io.tessera.fuzz.run;

/**
 * A forbidden action of a kernel, or the reason why it could not be tried.
 *
 * @param kind  its kind
 * @param where mode and entry
 * @param what  description
 */
public record KernelFinding(Kind kind, String where, String what) {
    /** Kind of a finding. */
    public enum Kind {
        /** An access outside the window, or another fault that would end the context of all clients. */
        ESCAPE,
        /** A legal kernel's results differ. */
        DIFFERENCE,
        /** It did not end when it was told to. */
        ENDLESS,
        /** The rewriter, the parser or the software GPU threw an exception that is not a refusal. */
        CRASH,
        /** The rewriter or the verifier refuses the module. */
        REFUSED,
        /** The assembler rejects the fenced text. */
        NOT_ASSEMBLED,
        /** A legal kernel does not run unfenced: a mistake of the generator or of the software GPU. */
        GENERATOR
    }
}
