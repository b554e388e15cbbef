package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.HoistedVariable;

/** Checks that the numbers of a module's tables are plausible, because memory is allocated and written according to them. Stateless. */
public final class TablesCheck {
    /** Far above the memory of any device. */
    private static final long MOST_BYTES = 1L << 44;
    private static final int MOST_ALIGNMENT = 1 << 16;

    private TablesCheck() {
    }

    /** Returns why tables cannot be used; null: they can. */
    static String refusal(FencedTables tables, FenceMode mode) {
        if (tables.mode() != mode) {
            return "its tables are of mode " + tables.mode();
        }
        long bytes = 0;
        for (HoistedVariable variable : tables.variables()) {
            bytes += variable.sizeBytes();
            if (variable.sizeBytes() < 0 || bytes < 0 || bytes > MOST_BYTES) {
                return "its variables take " + bytes + " bytes";
            }
            if (!isAlignment(variable.alignmentBytes()) || variable.initial().length > variable.sizeBytes()
                    || variable.relocations().stream().anyMatch(relocation -> !fits(relocation, variable.sizeBytes()))) {
                return "its variable " + variable.name() + " is not laid out as one can be";
            }
        }
        for (ConstantPatch patch : tables.patches()) {
            if (!fits(patch.relocation(), MOST_BYTES)) {
                return "its constant " + patch.constant() + " is not laid out as one can be";
            }
        }
        return null;
    }

    private static boolean isAlignment(int bytes) {
        return bytes >= 0 && bytes <= MOST_ALIGNMENT && (bytes & bytes - 1) == 0;
    }

    private static boolean fits(HoistedVariable.Relocation relocation, long bytes) {
        return relocation.widthBytes() >= 0 && relocation.widthBytes() <= Long.BYTES && relocation.offsetBytes() >= 0
                && relocation.offsetBytes() <= bytes - relocation.widthBytes();
    }
}
