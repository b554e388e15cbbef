package io.tessera.guardian.machine;

/** Machine code that cannot be read or fenced. The message says why, and where: it is shown to users. */
public final class MachineCodeException extends Exception {
    private static final long serialVersionUID = 1L;

    /** With a reason. */
    public MachineCodeException(String message) {
        super(message);
    }

    /** With a reason at an instruction. */
    public MachineCodeException(String message, int offset) {
        super(message + " at offset 0x" + Integer.toHexString(offset));
    }
}
