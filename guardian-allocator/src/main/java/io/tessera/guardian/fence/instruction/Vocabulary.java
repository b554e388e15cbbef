package io.tessera.guardian.fence.instruction;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.ScalarType;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The words that may stand after an opcode (PTX ISA 9.0). A word that is not listed is refused: a new word may be a new way to touch
 * memory. Stateless.
 */
enum Vocabulary {
    /** Loads and stores. */
    TRANSFER("weak volatile relaxed acquire release mmio cta cluster gpu sys global local shared shared::cta "
            + "shared::cluster param param::entry param::func const ca cg cs cv lu wb wt nc L1::evict_normal "
            + "L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::evict_normal L2::evict_first "
            + "L2::evict_last L2::cache_hint L2::64B L2::128B L2::256B unified v2 v4 v8", true),
    /** Atomic operations and reductions. */
    ATOMIC("relaxed acquire release acq_rel cta cluster gpu sys global shared shared::cta shared::cluster and or xor cas "
            + "exch add inc dec min max noftz L2::cache_hint v2 v4 v8", true),
    /** Stores and reductions that complete on a barrier of the destination. */
    REMOTE("async relaxed weak cluster shared::cluster mbarrier::complete_tx::bytes v2 v4 inc dec min max add and or xor",
            true),
    /** Cache control. */
    CACHE("global local param const tensormap L1 L2 L2::evict_normal L2::evict_last L2::evict_first", false),
    /** Copies by the asynchronous proxies. */
    COPY("async bulk reduce ca cg shared shared::cta shared::cluster global mbarrier arrive noinc commit_group wait_group "
            + "wait_all read bulk_group mbarrier::complete_tx::bytes prefetch tensor L2 L2::cache_hint L2::64B L2::128B "
            + "L2::256B 1d 2d 3d 4d 5d tile im2col im2col_no_offs add min max inc dec and or xor noftz", true),
    /** Barriers in shared memory. */
    MBARRIER("init inval expect_tx complete_tx arrive arrive_drop test_wait try_wait pending_count noComplete expect_tx "
            + "parity acquire release relaxed cta cluster shared shared::cta shared::cluster", true),
    /** Matrix loads and stores. */
    MATRIX("sync aligned x1 x2 x4 trans shared shared::cta global load store a b c d row col m8n8 m8n16 m16n8 m16n16 "
            + "b8x16.b6x16_p32 b8x16 b6x16_p32 b4x16_p64", true),
    /** Textures and surfaces. */
    TEXTURE("1d 2d 3d a1d a2d cube acube 2dms a2dms base level grad v2 v4 r g b a p trap clamp zero ca cg cs cv wb wt "
            + "add min max and or width height depth channel_data_type channel_order normalized_coords array_size "
            + "num_mipmap_levels num_samples filter_mode addr_mode_0 addr_mode_1 addr_mode_2 memory_layout "
            + "force_unnormalized_coords", true),
    /** Order of memory. */
    ORDER("cta cluster gpu sys gl acq_rel sc acquire release relaxed proxy alias async global async.global async.shared "
            + "shared::cta shared::cluster async::generic async.shared::cta async.shared::cluster generic mbarrier_init "
            + "sync_restrict::shared::cta sync_restrict::shared::cluster cluster tensormap::generic", false),
    /** Barriers of blocks and clusters. */
    BARRIER("sync arrive red cta cluster warp wait aligned relaxed acquire release popc and or pred u32", false),
    /** Control flow. */
    CONTROL("uni idx", false),
    /** All that stays in registers. */
    REGISTERS("rn rz rm rp rna rni rzi rmi rpi rs ftz sat satfinite relu NaN abs xorsign approx full noftz oob scaled "
            + "cc hi lo wide wrap clamp shiftamt l r left right eq ne lt le gt ge ls hs equ neu ltu leu gtu geu num nan "
            + "and or xor add popc finite infinite number notanumber normal subnormal f4e b4e rc8 ecl ecr rc16 sync up "
            + "down bfly idx all any uni ballot aligned min max to explicitcluster pack v2 v4 global local shared "
            + "shared::cta shared::cluster param param::entry const fractional range cvt L2 L2::evict_last "
            + "L2::evict_normal L2::evict_first L2::evict_unchanged b0 b1 b2 b3 h0 h1 po shr7 shr15 inc dec row col sp "
            + "sp::ordered_metadata m8n8 trans mma kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4 kind::f8f6f4 block_scale "
            + "load store a b c d mma_async scale_vec::1X scale_vec::2X scale_vec::4X wait launch_dependents fence commit_group wait_group", true);

    private static final Pattern SHAPE = Pattern.compile("m\\d+n\\d+k\\d+");

    private final Set<String> words;

    Vocabulary(String words, boolean types) {
        this.words = new HashSet<>(Arrays.asList(words.split(" ")));
        if (types) {
            for (ScalarType type : ScalarType.values()) {
                this.words.add(type.ptx());
            }
        }
    }

    /** The first word of an instruction that is not here, or null. */
    String unknownIn(Instruction instruction) {
        for (String word : instruction.modifiers()) {
            boolean known = words.contains(word)
                    || (this == REGISTERS || this == MATRIX) && SHAPE.matcher(word).matches();
            if (!known) {
                return word;
            }
        }
        return null;
    }
}
