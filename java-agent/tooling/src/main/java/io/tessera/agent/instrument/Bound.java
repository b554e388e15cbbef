package io.tessera.agent.instrument;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Annotations for parameters of advice that a rule binds to arguments of the instrumented method. */
final class Bound {
    private Bound() {
    }

    /** The argument that holds an address. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.PARAMETER)
    @interface Address {
    }

    /** The size, or its first factor. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.PARAMETER)
    @interface Bytes {
    }

    /** The size's second factor, 1 without one. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.PARAMETER)
    @interface Factor {
    }

    /** Ordinal of the memory's kind. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.PARAMETER)
    @interface Kind {
    }

    /** The value that represents the kernel: an argument, or the method's name. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.PARAMETER)
    @interface Kernel {
    }

    /** The kernel's name. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.PARAMETER)
    @interface Name {
    }

    /** A copy's direction. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.PARAMETER)
    @interface Direction {
    }
}
