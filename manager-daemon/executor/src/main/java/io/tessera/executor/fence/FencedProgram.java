package io.tessera.executor.fence;

import io.tessera.guardian.cache.FencedTables;
import java.util.List;

/**
 * A program that may run in a tenant's window, once it is loaded and filled. Immutable as long as nobody writes to the bytes.
 *
 * @param code   what the driver loads: a cubin, or PTX with its final NUL
 * @param tables of its modules: one, or those that were linked
 * @param info   what the compiler said, empty for code from a cache
 * @param ahead  whether it was compiled before any program ran, so that this driver may refuse it
 */
record FencedProgram(byte[] code, List<FencedTables> tables, String info, boolean ahead) {
    FencedProgram {
        tables = List.copyOf(tables);
    }

    boolean reports() {
        return tables.stream().anyMatch(FencedTables::reports);
    }

    boolean keepsState() {
        return tables.stream().anyMatch(FencedTables::keepsState);
    }
}
