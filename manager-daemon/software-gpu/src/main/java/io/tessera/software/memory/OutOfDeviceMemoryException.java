package io.tessera.software.memory;

/** The arena has no room; the message contains the requested and the remaining size. */
public final class OutOfDeviceMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OutOfDeviceMemoryException(long bytes, long freeBytes, long capacityBytes) {
        super(bytes + " bytes asked for, " + freeBytes + " of " + capacityBytes
                + " left in the software GPU's memory (--software-memory of the manager sets its size)");
    }
}
