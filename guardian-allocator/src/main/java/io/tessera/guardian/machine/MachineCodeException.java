package io.tessera.guardian.machine;

/** Machine code that cannot be read or fenced. The message says why, and where: it is shown to users and logged, printable and of a bounded length. */
public final class MachineCodeException extends Exception {
    private static final long serialVersionUID = 1L;
    /** Names of the file may be part of a message. */
    private static final int LONGEST = 400;

    /** Creates an exception with a reason. */
    public MachineCodeException(String message) {
        super(PrintableText.of(message, LONGEST));
    }

    /** Creates an exception with a reason at an instruction. */
    public MachineCodeException(String message, int offset) {
        super(PrintableText.of(message, LONGEST) + " at offset 0x" + Integer.toHexString(offset));
    }
}
