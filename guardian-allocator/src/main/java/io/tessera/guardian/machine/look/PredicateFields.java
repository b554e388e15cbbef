package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.Set;

/**
 * Tests whether bits 81 to 83 and 84 to 86 of an instruction may name predicates that it writes. The answer is also yes for some instructions that
 * write none. Stateless.
 */
final class PredicateFields {
    /** Instructions whose bits there are something else. */
    private static final Set<String> NONE = Set.of("MOV", "FADD", "FMUL", "FFMA", "HFMA2", "HADD2", "HMUL2", "HMMA", "IMMA", "DADD", "DMUL", "DFMA",
            "SHF", "PRMT", "SEL", "FSEL",
            "S2R", "CS2R", "MUFU", "VIADD", "F2FP", "F2F", "F2I", "I2F", "NOP", "BAR", "DEPBAR", "LDGDEPBAR", "LDC", "LDS", "LDL", "LDSM", "STS",
            "STL", "STG", "ST", "LDGSTS",
            "HGMMA", "IGMMA", "QGMMA", "WARPGROUP", "MOVM", "POPC", "FLO", "IABS", "BSSY", "MEMBAR", "YIELD", "NANOSLEEP");

    private PredicateFields() {
    }

    /** Fields of a general predicate. */
    static boolean of(MachineOpcode operation) {
        return !operation.name().startsWith("U") && !NONE.contains(operation.name());
    }

    /** Fields of a uniform predicate. */
    static boolean ofUniform(MachineOpcode operation) {
        return operation.name().startsWith("U") || operation.uniforms() > 0 || "VOTEU".equals(operation.name()) || "ELECT".equals(operation.name());
    }

    /** The uniform predicates that an instruction may write, as bits. */
    static int uniforms(MachineOpcode operation, long high) {
        return ofUniform(operation) ? (1 << (high >>> 17 & 7) | 1 << (high >>> 20 & 7)) & 0x7f : 0;
    }
}
