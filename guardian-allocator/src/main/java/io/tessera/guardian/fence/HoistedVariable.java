package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Linkage;
import java.util.Arrays;
import java.util.List;

/**
 * A variable of a module that lives in the tenant's window. The fenced module has the constant {@link #constant()} in its place, 8 bytes that hold
 * its address; the loader allocates {@link #sizeBytes()}, writes {@link #initial()} with the {@link #relocations()} applied, fills the constant, and
 * answers requests for the variable's address with it. Immutable as long as nobody writes to the bytes.
 *
 * @param name           its name in the program
 * @param constant       {@code __tessera_at_} and the name
 * @param linkage        {@link Linkage#EXTERN} if another module defines it: then nothing is allocated, and the constant of the defining module
 *                       serves both. If modules are linked, variables of the same name that are {@link Linkage#WEAK} or {@link Linkage#COMMON} share
 *                       one constant, and so one variable: the largest
 * @param managed        whether it was declared {@code .managed}
 * @param constantSpace  whether it was a {@code .const} variable
 * @param sizeBytes      its size, at least 1
 * @param alignmentBytes its alignment, a power of two
 * @param initial        its initial bytes, from its start; bytes beyond the array are zero
 * @param relocations    addresses to be added into the bytes
 */
public record HoistedVariable(String name, String constant, Linkage linkage, boolean managed, boolean constantSpace,
        long sizeBytes, int alignmentBytes, byte[] initial, List<Relocation> relocations) {
    /** Copies the list; the bytes are kept. */
    public HoistedVariable {
        relocations = List.copyOf(relocations);
    }

    /**
     * An address in the initial bytes.
     *
     * @param offsetBytes offset from the variable's start
     * @param widthBytes  number of its low bytes that are stored there: 1 to 8
     * @param shiftBits   shift to the right before storing (a mask of an address selects one byte)
     * @param variable    the hoisted variable whose address is stored
     * @param addend      number added to that address first
     */
    public record Relocation(long offsetBytes, int widthBytes, int shiftBits, String variable, long addend) {
        /** The bits that are stored, in the low bytes of the result. */
        public long value(long variableAddress) {
            return variableAddress + addend >>> shiftBits;
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof HoistedVariable that && name.equals(that.name) && constant.equals(that.constant)
                && linkage == that.linkage && managed == that.managed && constantSpace == that.constantSpace
                && sizeBytes == that.sizeBytes && alignmentBytes == that.alignmentBytes
                && Arrays.equals(initial, that.initial) && relocations.equals(that.relocations);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name + " (" + sizeBytes + " bytes, " + relocations.size() + " relocations)";
    }
}
