package io.tessera.guardian.machine.verify;

/**
 * The registers in which code that gets fences will compute the bounds of {@link SummedAddresses}. Pairs of uniform registers are named by their
 * lower, even register. Immutable.
 */
public interface BoundPlaces {
    /** The pair for the bounds of a pair that an access adds; 0: none. */
    int of(int added);

    /** The pairs that are added, of which the bounds are computed before an instruction that may be no access. */
    int[] before(int at);
}
