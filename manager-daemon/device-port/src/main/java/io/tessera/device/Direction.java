package io.tessera.device;

/** Which way the content behind a pointer goes. */
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
