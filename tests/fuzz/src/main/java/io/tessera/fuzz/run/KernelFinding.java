package io.tessera.fuzz.run;

/**
 * What a kernel did that it must not, or why it could not be tried.
 *
 * @param kind  what it counts as
 * @param where mode and entry
 * @param what  in words
 */
public record KernelFinding(Kind kind, String where, String what) {
    /** What it counts as. */
    public enum Kind {
        /** An access outside of the window, or another fault that would end everybody's context. */
        ESCAPE,
        /** A legal kernel's results differ. */
        DIFFERENCE,
        /** It did not end when it was told to. */
        ENDLESS,
        /** The rewriter, the parser or the software GPU threw what is no refusal. */
        CRASH,
        /** A module that the rewriter or the verifier does not take. */
        REFUSED,
        /** The assembler does not take what was written. */
        NOT_ASSEMBLED,
        /** A legal kernel does not run unfenced: a mistake of the generator or of the software GPU. */
        GENERATOR
    }
}
