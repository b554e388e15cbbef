package io.tessera.protocol.segment;

/** States of a client's memory on a device ({@code TESSERA_RESIDENCY_*}). */
public enum ResidencyState {
    /** Nothing moves. */
    STEADY,
    /** Memory leaves the device. */
    MOVING_OUT,
    /** Memory comes to the device. */
    MOVING_IN,
    /** The driver has taken the whole process off the device. */
    SUSPENDED;

    /** Returns the number in the segment. */
    public int code() {
        return ordinal();
    }

    /** Returns the state with a number; steady for one that has no meaning. */
    public static ResidencyState ofCode(long code) {
        return code >= 0 && code < values().length ? values()[(int) code] : STEADY;
    }
}
