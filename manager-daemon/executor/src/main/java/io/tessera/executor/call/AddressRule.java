package io.tessera.executor.call;

/** Number of bytes from an address of device memory that a call touches. Stateless. */
@FunctionalInterface
public interface AddressRule {
    /** At least the byte at the address must belong to the client. */
    AddressRule ONE_BYTE = (_, _) -> 1;
    /** The call's own steps check its addresses. */
    AddressRule IN_CALL = (_, _) -> {
        throw new IllegalStateException("checked by the call itself");
    };

    /**
     * Bytes from the address of a parameter.
     *
     * @throws RejectedException if that is more than any memory has
     */
    long bytes(CallFrame frame, int parameter) throws RejectedException;

    /** A parameter that counts elements of a size. */
    static AddressRule elements(int count, int elementBytes) {
        return (frame, _) -> times(frame.slot(count), elementBytes);
    }

    /** Returns a count times a size in bytes. */
    static long times(long count, long bytes) throws RejectedException {
        if (count < 0 || count > Long.MAX_VALUE / bytes) {
            throw CallFrame.malformed("a length beyond all memory");
        }
        return count * bytes;
    }

    /** Returns the bytes from the first to the last of this many rows; all numbers are unsigned. */
    static long rows(long rowBytes, long rows, long pitch) throws RejectedException {
        return PitchedExtent.bytes(0, 0, 0, pitch, 0, rowBytes, rows, 1);
    }
}
