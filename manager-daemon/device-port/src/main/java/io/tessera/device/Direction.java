package io.tessera.device;

/** Direction in which the content behind a pointer is passed. */
public enum Direction {
    /** The driver reads it. */
    IN,
    /** The driver writes it. */
    OUT,
    /** The driver reads and writes it. */
    INOUT;

    /** Returns whether the driver reads it. */
    public boolean goesIn() {
        return this != OUT;
    }

    /** Returns whether the driver writes it. */
    public boolean comesOut() {
        return this != IN;
    }
}
