package io.tessera.software.conformance;

import io.tessera.software.program.ValueType;
import java.util.List;

/**
 * A program with its inputs. Its kernel {@code run(u64 in, u64 out, u32 n)} handles one record per thread: it reads operands from slots of 8 bytes, and stores
 * results into such slots. Blocks of {@link #BLOCK} threads; the number of records is a multiple of 32.
 *
 * @param name      unique
 * @param ptx       the module
 * @param results   types of the results of a record
 * @param sources   number of slots of an input record
 * @param records   number of records
 * @param input     all input records, little-endian
 * @param tolerance how exact results must be
 */
public record ConformanceCase(String name, String ptx, List<ValueType> results, int sources, int records,
        byte[] input, Tolerance tolerance) {
    /** Bytes of a slot. */
    public static final int SLOT = 8;
    /** Threads of a block. */
    public static final int BLOCK = 128;

    /** Size of the output: one slot per result and record. */
    public int outputBytes() {
        return records * results.size() * SLOT;
    }
}
