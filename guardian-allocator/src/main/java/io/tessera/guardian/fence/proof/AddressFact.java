package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.StateSpace;
import java.util.Optional;

/**
 * What is known about the address of one access. Immutable.
 *
 * @param space          the space that it points to: the instruction's own where it has one (then the address is one of that
 *                       space), or for a generic access the space that is proved; empty where any is possible
 * @param alignmentBytes a power of two that divides the address (base and constant offset together) on every path, given
 *                       that shadows are aligned as {@link BaseFence#alignmentBytes()} says; 1 where nothing is known.
 *                       Addresses in hoisted variables count from a start that is aligned as the variable is declared
 * @param placement      where it is
 */
public record AddressFact(Optional<StateSpace> space, int alignmentBytes, Placement placement) {
    /** Nothing is known. */
    public static final AddressFact UNKNOWN = new AddressFact(Optional.empty(), 1, new Placement.Unknown());
}
