package io.tessera.guardian.fence;

import java.util.List;

/**
 * A second entry of a kernel in a fenced module, for launches that were looked at: whoever launches it makes sure, each time, of all that
 * stands here, on the bytes that the device will read. It has the kernel's parameters, computes the same, and lacks what the kernel
 * itself does at its start to be safe with any launch. A launch of which something here does not hold gets the kernel. Nobody but the
 * loader may reach the entry. Immutable.
 *
 * @param kernel   the kernel
 * @param entry    name of the second entry; it begins with {@link WindowConstants#PREFIX}
 * @param few      name of the same entry, with the same terms, compiled for grids of few blocks, at most {@link FewBlocks#MOST_THREADS} threads each where the kernel
 *                 names no size itself: it may take more registers, so that fewer blocks run at once; empty: there is none
 * @param blockX   threads of a block in the first dimension, at most; 0: any
 * @param blockY   the same in the second
 * @param gridX    blocks of the grid in the first dimension, at most; 0: any
 * @param numbers  what integers among the parameters are at most
 * @param pointers which parameters are addresses inside the tenant's window
 */
public record CheckedEntry(String kernel, String entry, String few, int blockX, int blockY, long gridX, List<Number> numbers,
        List<Pointer> pointers) {
    /**
     * An integer among the parameters.
     *
     * @param parameter   index of the parameter, from 0
     * @param offsetBytes where in it the integer starts
     * @param bits        32 or 64
     * @param most        what it is at most, without sign
     */
    public record Number(int parameter, long offsetBytes, int bits, long most) {
    }

    /**
     * An address among the parameters, of 64 bits.
     *
     * @param parameter      index of the parameter, from 0
     * @param offsetBytes    where in it the address starts
     * @param alignmentBytes what divides it, a power of two
     */
    public record Pointer(int parameter, long offsetBytes, int alignmentBytes) {
    }

    /** Copies the lists, and checks that bits and alignments are what they can be. */
    public CheckedEntry {
        numbers = List.copyOf(numbers);
        pointers = List.copyOf(pointers);
        if (blockX < 0 || blockY < 0 || gridX < 0
                || numbers.stream().anyMatch(number -> number.bits() != Integer.SIZE && number.bits() != Long.SIZE)
                || pointers.stream().anyMatch(pointer -> pointer.alignmentBytes() < 1 || Integer.bitCount(pointer.alignmentBytes()) != 1)) {
            throw new IllegalArgumentException("terms that nothing can keep to: " + terms(blockX, blockY, gridX, numbers, pointers));
        }
    }

    /** How many kernels the module has for it. */
    public int kernels() {
        return few.isEmpty() ? 1 : 2;
    }

    /** For which launches it is, for people: a list with commas. */
    public String terms() {
        return terms(blockX, blockY, gridX, numbers, pointers);
    }

    private static String terms(int blockX, int blockY, long gridX, List<Number> numbers, List<Pointer> pointers) {
        StringBuilder text = new StringBuilder();
        if (blockX > 0) {
            text.append(", blocks of at most ").append(blockX).append(blockY > 0 ? " x " + blockY : "").append(" threads");
        }
        if (gridX > 0) {
            text.append(", at most ").append(gridX).append(" blocks in x");
        }
        numbers.forEach(number -> text.append(", parameter ").append(place(number.parameter(), number.offsetBytes())).append(" up to ")
                .append(number.most()));
        pointers.forEach(pointer -> text.append(", parameter ").append(place(pointer.parameter(), pointer.offsetBytes()))
                .append(" in the window"));
        return text.substring(text.isEmpty() ? 0 : 2);
    }

    private static String place(int parameter, long offset) {
        return offset == 0 ? Integer.toString(parameter) : parameter + "+" + offset;
    }
}
