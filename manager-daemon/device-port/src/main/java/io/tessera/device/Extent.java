package io.tessera.device;

/** Number of elements behind a pointer. */
public sealed interface Extent {
    /** A constant number. */
    record Constant(long elements) implements Extent {
    }

    /** {@code factor} times the value of the parameter with this index, less {@code less}, and never below 0. */
    record Value(int parameter, long factor, long less) implements Extent {
        /**
         * Returns the number of elements for a value of the parameter.
         *
         * @throws ArithmeticException where they exceed a long; the value is taken as unsigned
         */
        public long elements(long value) {
            if (value < 0) {
                throw new ArithmeticException("2^63 elements and more");
            }
            return Math.max(0, Math.multiplyExact(value, factor) - less);
        }
    }

    /** The number behind the parameter with this index at the time of the call. */
    record Behind(int parameter) implements Extent {
    }

    /** Text with its final zero; elements are bytes. */
    record Text() implements Extent {
    }

    /**
     * An extent that generated code cannot express: hand-written code packs the data at one end of a relayed call and unpacks it at the other.
     *
     * @param expression a description for readers; may be empty
     */
    record Handwritten(String expression) implements Extent {
    }
}
