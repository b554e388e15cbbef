package io.tessera.executor.call;

import io.tessera.device.EntryDescription;
import java.util.List;

/**
 * Which entries a CALL may name. Everything else is refused: what is answered in the client, and what would reach beyond
 * the client into the shared context or the executor's process. Stateless.
 */
final class RelayedEntries {
    /** What needs no context of the client, by the name that programs write; a star ends a prefix. */
    private static final List<String> CONTEXTLESS = List.of("cuLibrary*", "cuKernel*", "cuLink*", "cuDevice*",
            "cuTensorMap*", "cuMemCreate", "cuMemRelease", "cuMemAddress*", "cuMemMap", "cuMemUnmap", "cuMemSetAccess",
            "cuMemGet*", "cuMemRetainAllocationHandle", "cuMemPool*", "cuGraph*", "cuOccupancy*", "cuFunc*");

    private RelayedEntries() {
    }

    /** Whether a CALL may name it. */
    static boolean served(EntryDescription description) {
        return description.known() && description.relay().travels();
    }

    /** Whether it is served without a context too. */
    static boolean contextless(EntryDescription description) {
        return any(CONTEXTLESS, description.api());
    }

    private static boolean any(List<String> patterns, String name) {
        for (String pattern : patterns) {
            boolean fits = pattern.endsWith("*") ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                    : name.equals(pattern);
            if (fits) {
                return true;
            }
        }
        return false;
    }
}
