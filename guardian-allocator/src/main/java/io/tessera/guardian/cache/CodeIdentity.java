package io.tessera.guardian.cache;

import java.util.Objects;

/**
 * Everything besides the image that determines fenced code. Equal identities make interchangeable code. Immutable.
 *
 * @param mode            the fence: {@code mask}, {@code modulo}, {@code check}, {@code none}
 * @param rewriterVersion version of the rewriter ({@code Fencer.version()}); it changes with every change of the rewriter's output
 * @param architecture    the GPU's {@code sm_} number with its suffix: {@code 90}, {@code 90a}
 * @param compiler        compiler of the PTX: {@link #ofDriver} or {@link #AHEAD_OF_TIME}; {@link #TEXT} if there was none
 * @param options         everything else that changes the code, as the compiler was given it: {@code -O3 -maxrregcount=64}; empty for none
 */
public record CodeIdentity(String mode, String rewriterVersion, String architecture, String compiler, String options) {
    /**
     * The compiler of code that was made before the program ran ({@code tessera fence}). Any driver that can may load it: a process that
     * finds no code of its own driver's compiler asks for this, and takes its own compiler if the driver refuses it.
     */
    public static final String AHEAD_OF_TIME = "ahead";
    /** Stands for the compiler of text. Every driver compiles text when it loads it, and keeps the result in its own cache. */
    public static final String TEXT = "text";

    /** Creates an identity. No argument may be null. */
    public CodeIdentity {
        Objects.requireNonNull(mode);
        Objects.requireNonNull(rewriterVersion);
        Objects.requireNonNull(architecture);
        Objects.requireNonNull(compiler);
        Objects.requireNonNull(options);
    }

    /**
     * The name of a driver's compiler.
     *
     * @param driverVersion as cuDriverGetVersion says it: 13000
     * @param release       the driver's release where it is known ({@code 580.126.20}), else empty
     */
    public static String ofDriver(int driverVersion, String release) {
        return "driver " + driverVersion + " " + release;
    }

    /** Returns the identity of the same code as {@code tessera fence} makes it. */
    public CodeIdentity aheadOfTime() {
        return new CodeIdentity(mode, rewriterVersion, architecture, AHEAD_OF_TIME, options);
    }
}
