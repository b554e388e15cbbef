package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.StateSpace;
import java.util.Optional;

/**
 * Known facts about the address of one access. Immutable.
 *
 * @param space          the space that it points to: the instruction's own space if it has one, or for a generic access the proved space; empty if
 *                       any space is possible
 * @param alignmentBytes a power of two that divides the address (base and constant offset together) on every path, given that shadows are aligned as
 *                       {@link BaseFence#alignmentBytes()} says; 1 if nothing is known. Addresses in hoisted variables count from a start that is
 *                       aligned as the variable is declared
 * @param placement      its position
 */
public record AddressFact(Optional<StateSpace> space, int alignmentBytes, Placement placement) {
    /** Nothing is known. */
    public static final AddressFact UNKNOWN = new AddressFact(Optional.empty(), 1, new Placement.Unknown());
}
