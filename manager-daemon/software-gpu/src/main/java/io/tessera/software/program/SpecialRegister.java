package io.tessera.software.program;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Special registers of PTX that the software GPU provides, under their names without the percent sign. */
public enum SpecialRegister {
    TID, NTID, CTAID, NCTAID, LANEID, WARPID, NWARPID, SMID, NSMID, GRIDID, CLUSTERID, NCLUSTERID, CLUSTER_CTAID, CLUSTER_NCTAID, CLUSTER_CTARANK, CLUSTER_NCTARANK, IS_EXPLICIT_CLUSTER, LANEMASK_EQ, LANEMASK_LE, LANEMASK_LT, LANEMASK_GE, LANEMASK_GT, CLOCK, CLOCK_HI, CLOCK64, GLOBALTIMER, GLOBALTIMER_LO, GLOBALTIMER_HI, DYNAMIC_SMEM_SIZE, TOTAL_SMEM_SIZE, AGGR_SMEM_SIZE, RESERVED_SMEM_OFFSET_BEGIN, RESERVED_SMEM_OFFSET_END, RESERVED_SMEM_OFFSET_CAP, CURRENT_GRAPH_EXEC,
    /** Environment register 1: high half of the address of the grid's workspace, which grid-wide barriers use. */
    ENVREG1,
    /** Environment register 2: low half of that address. */
    ENVREG2,
    /** WARP_SZ, the constant 32. */
    WARP_SZ;

    private static final Map<String, SpecialRegister> BY_NAME = new HashMap<>();

    static {
        for (SpecialRegister register : values()) {
            BY_NAME.put(register.name().toLowerCase(Locale.ROOT), register);
        }
    }

    /** Returns the register of this name (no percent sign, no dimension), or null. */
    public static SpecialRegister ofName(String name) {
        return BY_NAME.get(name.toLowerCase(Locale.ROOT));
    }

    /** Returns whether a read gives 64 bits; every other register gives 32. */
    public boolean isWide() {
        return switch (this) {
            case CLOCK64, GLOBALTIMER, GRIDID, CURRENT_GRAPH_EXEC -> true;
            default -> false;
        };
    }
}
