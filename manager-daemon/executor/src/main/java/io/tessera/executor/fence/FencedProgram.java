package io.tessera.executor.fence;

import io.tessera.guardian.cache.FencedTables;
import java.util.List;
import java.util.Objects;

/**
 * A program that may run in a tenant's window, once it is loaded and filled. Immutable as long as nobody writes to the bytes.
 *
 * @param code   what the driver loads: a cubin, or PTX with its final NUL
 * @param tables of its modules: one, or those that were linked
 * @param info   what the compiler said, empty for code from a cache
 * @param cached whether it was found on disk, where another driver may have made it that this one does not understand
 */
record FencedProgram(byte[] code, List<FencedTables> tables, String info, boolean cached) {
    FencedProgram {
        tables = List.copyOf(tables);
    }

    /** Whether a driver has to compile it. */
    boolean isText() {
        return code.length < 2 || !LoadedCode.isMachineCode(code[0], code[1]);
    }

    /** Why a kernel of the original is not there; null: it is, or never was. */
    String refusal(String kernel) {
        return tables.stream().map(table -> table.refused().get(kernel)).filter(Objects::nonNull).findFirst().orElse(null);
    }

    boolean clusters() {
        return tables.stream().allMatch(FencedTables::clusters);
    }

    boolean reports() {
        return tables.stream().anyMatch(FencedTables::reports);
    }

    boolean keepsState() {
        return tables.stream().anyMatch(FencedTables::keepsState);
    }
}
