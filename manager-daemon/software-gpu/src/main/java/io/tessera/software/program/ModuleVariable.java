package io.tessera.software.program;

import java.util.List;

/**
 * A module variable in global or constant memory.
 *
 * @param name       its name
 * @param space      GLOBAL or CONST
 * @param bytes      size; 0 for an external array of unknown size
 * @param align      alignment in bytes
 * @param external   whether another module defines it
 * @param initial    its first bytes; shorter than {@code bytes} where the rest is zero
 * @param references addresses of symbols to be written over {@code initial}
 */
public record ModuleVariable(String name, AddressSpace space, long bytes, int align, boolean external, byte[] initial,
        List<Reference> references) {
    /**
     * The address of a symbol inside an initial value.
     *
     * @param offset bytes from the begin of the variable
     * @param bytes  width: 8, 4, or 1 where one byte of the address was asked for
     * @param symbol variable or function
     * @param addend bytes to add to its address
     * @param shift  bits by which the sum is shifted right before its low {@code bytes} are stored
     */
    public record Reference(long offset, int bytes, String symbol, long addend, int shift) {
    }
}
