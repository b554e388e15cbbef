package io.tessera.guardian.fence.footprint;

import java.util.BitSet;
import java.util.List;

/**
 * What the value of a register may be derived from: parameters, and sources that are no parameter. Values are ordered by inclusion. A value without
 * any source is a number, for instance an index that was computed from the number of the thread. Immutable.
 */
final class AddressOrigin {
    /** The address of something in shared, local, constant or parameter memory. */
    private static final int NEAR_MEMORY = 1;
    /** May be an address that no parameter gave: it was loaded, or put together from parts. */
    private static final int ELSEWHERE = 2;
    /** Not an address, but it may hold a part of one, for instance the upper 32 bits. */
    private static final int PART_OF_ADDRESS = 4;

    static final AddressOrigin NUMBER = new AddressOrigin(new BitSet(), 0);
    static final AddressOrigin NEAR = new AddressOrigin(new BitSet(), NEAR_MEMORY);
    static final AddressOrigin FOREIGN = new AddressOrigin(new BitSet(), ELSEWHERE);
    static final AddressOrigin PART = new AddressOrigin(new BitSet(), PART_OF_ADDRESS);

    /** Bit n: the 8 bytes at 8 * n of the packed parameters. */
    private final BitSet slots;
    private final int sources;

    private AddressOrigin(BitSet slots, int sources) {
        this.slots = slots;
        this.sources = sources;
    }

    /** Returns the origin of a value that is in the parameters at a byte offset, a multiple of 8. */
    static AddressOrigin parameter(int offsetBytes) {
        BitSet slots = new BitSet();
        slots.set(offsetBytes / Long.BYTES);
        return new AddressOrigin(slots, 0);
    }

    /** Returns the origin of a value that is in any 8 bytes of parameters of this size. */
    static AddressOrigin anyParameter(int sizeBytes) {
        BitSet slots = new BitSet();
        slots.set(0, sizeBytes / Long.BYTES);
        return new AddressOrigin(slots, 0);
    }

    /** Returns the union; this object if the other one adds nothing. */
    AddressOrigin or(AddressOrigin other) {
        if (includes(other)) {
            return this;
        }
        if (other.includes(this)) {
            return other;
        }
        BitSet union = (BitSet) slots.clone();
        union.or(other.slots);
        return new AddressOrigin(union, sources | other.sources);
    }

    private boolean includes(AddressOrigin other) {
        if ((other.sources & ~sources) != 0) {
            return false;
        }
        if (other.slots.isEmpty() || other.slots == slots) {
            return true;
        }
        BitSet rest = (BitSet) other.slots.clone();
        rest.andNot(slots);
        return rest.isEmpty();
    }

    /** Returns the origin of something that was computed from this value and is not an address. */
    AddressOrigin asPart() {
        return isNumber() ? NUMBER : PART;
    }

    /** Returns the origin of a combination of bits of this value: it may be an address if this one is. */
    AddressOrigin asBits() {
        return slots.isEmpty() && (sources & ~PART_OF_ADDRESS) == 0 ? this : FOREIGN;
    }

    /** Returns the origin of the result of an operation that may put an address together from parts. */
    AddressOrigin asWhole() {
        return isNumber() ? NUMBER : FOREIGN;
    }

    private boolean isNumber() {
        return slots.isEmpty() && sources == 0;
    }

    /** Returns whether it may be an address that no parameter gave. */
    boolean isForeign() {
        return (sources & ELSEWHERE) != 0;
    }

    /** Returns whether it may be the address of something in shared, local, constant or parameter memory. */
    boolean mayBeNear() {
        return (sources & NEAR_MEMORY) != 0;
    }

    /** Returns whether at least one parameter is a source. */
    boolean hasParameters() {
        return !slots.isEmpty();
    }

    /** Byte offsets of the parameters, ascending. */
    List<Integer> parameters() {
        return slots.stream().mapToObj(slot -> slot * Long.BYTES).toList();
    }
}
