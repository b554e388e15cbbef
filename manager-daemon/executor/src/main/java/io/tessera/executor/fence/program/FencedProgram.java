package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.KernelWrites;
import io.tessera.guardian.fence.FencedModule;
import java.util.List;
import java.util.Objects;

/**
 * A program that may run in a tenant's window, once it is loaded and filled. Immutable as long as the bytes are not written.
 *
 * @param code   the driver's input: a cubin, or PTX with its final NUL
 * @param tables of its modules: one, or those that were linked
 * @param info   output of the compiler, empty for code from a cache
 * @param cached whether it was found on disk. Then it may have been compiled by another driver, so that this driver may refuse it
 */
public record FencedProgram(byte[] code, List<FencedTables> tables, String info, boolean cached) {
    /** Copies the list. */
    public FencedProgram {
        tables = List.copyOf(tables);
    }

    /** Returns whether a driver has to compile it. */
    public boolean isText() {
        return code.length < 2 || !LoadedCode.isMachineCode(code[0], code[1]);
    }

    /** Returns why a kernel of the original is missing; null: it is not, or the original does not have it. */
    public String refusal(String kernel) {
        return tables.stream().map(table -> table.refused().get(kernel)).filter(Objects::nonNull).findFirst().orElse(null);
    }

    /** Returns whether kernels may be launched with a cluster dimension: all modules allow it. */
    public boolean clusters() {
        return tables.stream().allMatch(FencedTables::clusters);
    }

    /** Returns the dynamic shared memory that is added to the program's own in each launch of a kernel, in bytes. */
    public int addedSharedBytes() {
        return tables.stream().anyMatch(FencedTables::waits) ? FencedModule.CLUSTER_BYTES : 0;
    }

    /** Returns whether a kernel may wait for other blocks of its grid: a module's table says so, or no module has the kernel. */
    public boolean mayWaitForBlocks(String kernel) {
        return tables.stream().anyMatch(table -> table.waiting().contains(kernel))
                || tables.stream().noneMatch(table -> table.functions().contains(kernel));
    }

    /** Returns what memory a kernel reads and writes; null: no module has it, or several modules were linked. */
    public KernelWrites writes(String kernel) {
        return tables.size() == 1 ? tables.getFirst().writes().get(kernel) : null;
    }

    /** Returns whether kernels may report. */
    public boolean reports() {
        return tables.stream().anyMatch(FencedTables::reports);
    }

    /** Returns whether loaded code keeps state that another copy of the module would not share. */
    public boolean keepsState() {
        return tables.stream().anyMatch(FencedTables::keepsState);
    }
}
