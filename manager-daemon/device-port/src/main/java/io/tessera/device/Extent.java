package io.tessera.device;

/** How many elements lie behind a pointer. */
public sealed interface Extent {
    /** So many, always. */
    record Constant(long elements) implements Extent {
    }

    /** {@code factor} times the value of the parameter with this index, less {@code less}, and never below 0. */
    record Value(int parameter, long factor, long less) implements Extent {
        /**
         * Returns the elements for a value of the parameter.
         *
         * @throws ArithmeticException where they are more than a long counts; the value is taken as unsigned
         */
        public long elements(long value) {
            if (value < 0) {
                throw new ArithmeticException("2^63 elements and more");
            }
            return Math.max(0, Math.multiplyExact(value, factor) - less);
        }
    }

    /** As many as the number behind the parameter with this index says when the call is made. */
    record Behind(int parameter) implements Extent {
    }

    /** Text with its final zero; elements are bytes. */
    record Text() implements Extent {
    }

    /**
     * No generated code knows: hand-written code packs it at one end of a relayed call and unpacks it at the other.
     *
     * @param expression what is known of it, for readers; may be empty
     */
    record Handwritten(String expression) implements Extent {
    }
}
