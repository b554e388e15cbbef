package io.tessera.guardian.fence;

import java.util.List;

/**
 * Which memory a kernel can write and read, in terms of its parameters, if all of its threads run to their ends and if some are ended before. An offset stands for the 64-bit parameter, or the 8 bytes of a structure, that
 * is at this byte of the kernel's packed parameters. The value there may also be a number that the kernel adds to an address; a user of this record ignores
 * values that are not addresses of the tenant's memory. Each address that the kernel computes is derived from at least one listed parameter that holds
 * an address, and is assumed to lie in the allocation of that address. Immutable.
 *
 * @param written offsets of the parameters from which addresses of global stores, atomics and reductions are derived, ascending
 * @param read    the same for global loads; atomics and reductions count here too
 * @param unknown one sentence that says why the kernel's accesses are not known; both lists are then empty. Null if they are known
 */
public record KernelWrites(List<Integer> written, List<Integer> read, String unknown) {
    /** Copies the lists. */
    public KernelWrites {
        written = List.copyOf(written);
        read = List.copyOf(read);
        if (unknown != null && (unknown.isEmpty() || !written.isEmpty() || !read.isEmpty())) {
            throw new IllegalArgumentException("accesses that are not known have a reason and no offsets");
        }
        if (written.stream().anyMatch(offset -> offset < 0) || read.stream().anyMatch(offset -> offset < 0)) {
            throw new IllegalArgumentException("a negative offset of a parameter");
        }
    }

    /** Returns the result for a kernel whose accesses are not known. */
    public static KernelWrites unknown(String why) {
        return new KernelWrites(List.of(), List.of(), why);
    }
}
