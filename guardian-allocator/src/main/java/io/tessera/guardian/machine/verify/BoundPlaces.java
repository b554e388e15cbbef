package io.tessera.guardian.machine.verify;

/**
 * The registers in which code that gets fences will compute the bounds of {@link SummedAddresses}. Pairs of uniform registers are named by their
 * lower, even register. Immutable.
 */
public interface BoundPlaces {
    /** Returns the pair that holds the bounds for a pair that an access adds; 0: none. */
    int of(int added);

    /** Returns the added pairs whose bounds are computed before an instruction; that instruction need not be an access. */
    int[] before(int at);
}
