package io.tessera.protocol.segment;

/** What a client's memory on a device is doing ({@code TESSERA_RESIDENCY_*}). */
public enum ResidencyState {
    /** Nothing moves. */
    STEADY,
    /** Leaving the device. */
    MOVING_OUT,
    /** Coming to the device. */
    MOVING_IN,
    /** The driver has taken the whole process off the device. */
    SUSPENDED;

    /** The number in the segment. */
    public int code() {
        return ordinal();
    }

    /** The state of a number; steady for one that has no meaning. */
    public static ResidencyState ofCode(long code) {
        return code >= 0 && code < values().length ? values()[(int) code] : STEADY;
    }
}
