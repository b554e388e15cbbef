package io.tessera.guardian.cache;

import java.util.Objects;

/**
 * What fenced code depends on besides the image that it was made from. Two that are equal make interchangeable
 * code. Immutable.
 *
 * @param mode            the fence: {@code mask}, {@code modulo}, {@code check}, {@code none}
 * @param rewriterVersion version of the rewriter ({@code Fencer.version()}); another one after every change of what it writes
 * @param architecture    the GPU's {@code sm_} number with its suffix: {@code 90}, {@code 90a}
 * @param compiler        what made machine code of the PTX: {@link #ofDriver}, {@link #AHEAD_OF_TIME}; {@link #TEXT}: nothing did
 * @param options         everything else that changes the code, as the compiler was given it: {@code -O3 -maxrregcount=64};
 *                        empty for none
 */
public record CodeIdentity(String mode, String rewriterVersion, String architecture, String compiler, String options) {
    /**
     * The compiler of code that was made before the program ran ({@code tessera fence}). Any driver that can may load it: a process that
     * finds no code of its own driver's compiler asks for this, and takes its own compiler if the driver refuses it.
     */
    public static final String AHEAD_OF_TIME = "ahead";
    /** In place of a compiler for text, which every driver compiles when it loads it, and keeps in its own cache. */
    public static final String TEXT = "text";

    /** Nothing is null. */
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

    /** The same code as {@code tessera fence} makes it. */
    public CodeIdentity aheadOfTime() {
        return new CodeIdentity(mode, rewriterVersion, architecture, AHEAD_OF_TIME, options);
    }
}
