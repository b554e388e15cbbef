package io.tessera.guardian.ptx.parse;

import java.util.HashSet;
import java.util.Set;

/** The read-only registers of the machine (PTX ISA 9.0, "Special Registers"). Stateless. */
public final class SpecialRegisters {
    private static final Set<String> VECTORS = Set.of("%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid",
            "%nclusterid", "%cluster_ctaid", "%cluster_nctaid");
    private static final Set<String> ALL = all();

    private SpecialRegisters() {
    }

    private static Set<String> all() {
        Set<String> names = new HashSet<>(VECTORS);
        names.addAll(Set.of("%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%is_explicit_cluster",
                "%cluster_ctarank", "%cluster_nctarank"));
        names.addAll(Set.of("%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"));
        names.addAll(Set.of("%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"));
        names.addAll(Set.of("%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
                "%reserved_smem_offset_0", "%reserved_smem_offset_1", "%total_smem_size", "%aggr_smem_size",
                "%dynamic_smem_size", "%current_graph_exec"));
        for (int i = 0; i < 32; i++) {
            names.add("%envreg" + i);
        }
        for (int i = 0; i < 8; i++) {
            names.add("%pm" + i);
            names.add("%pm" + i + "_64");
        }
        return Set.copyOf(names);
    }

    /** All of them, with percent sign. */
    public static Set<String> names() {
        return ALL;
    }

    /** Returns whether a name, with percent sign and without component, is a special register. */
    public static boolean contains(String name) {
        return ALL.contains(name);
    }

    /** Returns whether it has components {@code x}, {@code y}, {@code z}, {@code w}. */
    public static boolean isVector(String name) {
        return VECTORS.contains(name);
    }
}
