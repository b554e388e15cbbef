package io.tessera.guardian.verify.flow;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Forms of the instructions that fenced text may have. An opcode or a modifier that is not listed here is not accepted. */
public enum Form {
    /** Reads registers, and writes the first operand. */
    REGISTERS("rn rz rm rp rna rni rzi rmi rpi rs ftz sat satfinite relu NaN abs xorsign approx full noftz oob scaled cc hi lo wide wrap clamp "
            + "shiftamt l r left right eq ne lt le gt ge ls hs equ neu ltu leu gtu geu num nan and or xor add popc finite infinite number "
            + "notanumber normal subnormal f4e b4e rc8 ecl ecr rc16 min max to pack global local shared shared::cta shared::cluster param "
            + "param::entry const fractional range cvt L2 L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged b0 b1 b2 b3 h0 h1 po "
            + "shr7 shr15 row col sp sp::ordered_metadata m8n8 trans mma kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4 kind::f8f6f4 block_scale "
            + "scale_vec::1X scale_vec::2X scale_vec::4X v2 v4 v8 sync aligned", true),
    /** Does something and writes no register. */
    EFFECT("aligned sync wait launch_dependents inc dec fence commit_group wait_group", true), LOAD(
            "weak volatile relaxed acquire mmio cta cluster gpu sys global local shared shared::cta param param::entry param::func const ca cg cs cv lu nc "
                    + "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::evict_normal L2::evict_first L2::evict_last "
                    + "L2::cache_hint L2::64B L2::128B L2::256B shared::cluster v2 v4 v8",
            true), STORE(
                    "weak volatile relaxed release mmio cta cluster gpu sys global local shared shared::cta param param::func cg cs wb wt L1::evict_normal "
                            + "L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::evict_normal L2::evict_first L2::evict_last L2::cache_hint "
                            + "shared::cluster v2 v4 v8",
                    true), ATOM(
                            "relaxed acquire release acq_rel cta cluster gpu sys global shared shared::cta shared::cluster and or xor cas exch add inc dec min max noftz "
                                    + "L2::cache_hint v2 v4 v8",
                            true), RED(
                                    "relaxed release cta cluster gpu sys global shared shared::cta shared::cluster and or xor add inc dec min max noftz L2::cache_hint v2 v4 v8",
                                    true), PREFETCH("global local L1 L2 L2::evict_normal L2::evict_last", false),
    /** Operates on a cache line. */
    LINE("global L2 L2::evict_normal", false), COPY("async ca cg shared shared::cta global L2::cache_hint L2::64B L2::128B L2::256B", false), BULK(
            "async bulk bulk_group global shared::cta prefetch reduce L2 L2::cache_hint add min max inc dec and or xor noftz",
            true), GROUP("async commit_group wait_group wait_all bulk read", false), ROWS(
                    "sync aligned x1 x2 x4 trans shared shared::cta m8n8 m8n16 m16n16 m16n8 b8 b16 b8x16 b6x16_p32 b4x16_p64",
                    false), WMMA("load store a b c d row col sync aligned global shared shared::cta", true), TEXTURE(
                            "1d 2d 3d a1d a2d cube acube 2dms a2dms base level grad v2 v4 r g b a p clamp zero ca cg cs cv wb wt add min max and or width height "
                                    + "depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels num_samples filter_mode addr_mode_0 addr_mode_1 "
                                    + "addr_mode_2 memory_layout force_unnormalized_coords",
                            true),
    /** Operates on lanes of a warp together; the last operand says on which. */
    WARP("warp sync up down bfly idx all any uni ballot add min max and or xor abs NaN inc dec", true),
    /** As above, without {@code .sync}, as in text of PTX ISA below 6.0: no operand names the lanes. */
    LANES("up down bfly idx all any uni ballot", true), ORDER(
            "cta cluster gpu sys gl acq_rel sc acquire release relaxed proxy alias async global async.global async.shared generic mbarrier_init "
                    + "shared::cta shared::cluster async::generic async.shared::cta async.shared::cluster sync_restrict::shared::cta sync_restrict::shared::cluster",
            false), BARRIER("sync arrive cta red popc and or pred u32 aligned", true),
    /** A cluster's barrier. */
    CLUSTER("cluster arrive wait aligned relaxed release acquire", false), BRANCH("uni", false), TABLE("uni idx", false), CALL("uni",
            false), LEAVE("uni", false),
    /** Accepted only while no other tenant uses the context: its effect is not verified. */
    ALONE("", true);

    private static final Map<String, Form> OPCODES = new HashMap<>();

    static {
        put(REGISTERS, "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi bmsk szext dp4a dp2a addc subc madc "
                + "testp copysign fma rcp sqrt rsqrt sin cos lg2 ex2 tanh set setp selp slct and or xor not cnot lop3 shf shl shr mov prmt isspacep cvta "
                + "cvt mapa getctarank createpolicy activemask mma movmatrix vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 "
                + "vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4");
        put(EFFECT, "nanosleep pmevent setmaxnreg griddepcontrol");
        put(LOAD, "ld ldu");
        put(STORE, "st");
        put(ATOM, "atom");
        put(RED, "red");
        put(PREFETCH, "prefetch prefetchu");
        put(LINE, "applypriority discard");
        put(COPY, "cp");
        put(ROWS, "ldmatrix stmatrix");
        put(WMMA, "wmma");
        put(TEXTURE, "tex tld4 txq suld sust sured suq");
        put(WARP, "shfl vote match redux elect");
        put(ORDER, "membar fence");
        put(BARRIER, "bar barrier");
        put(BRANCH, "bra");
        put(TABLE, "brx");
        put(CALL, "call");
        put(LEAVE, "ret exit");
    }

    private final Set<String> words;

    Form(String words, boolean types) {
        this.words = new HashSet<>(Arrays.asList(words.split(" ")));
        if (types) {
            for (ScalarType type : ScalarType.values()) {
                this.words.add(type.ptx());
            }
        }
    }

    private static void put(Form form, String opcodes) {
        for (String opcode : opcodes.split(" ")) {
            OPCODES.put(opcode, form);
        }
    }

    /** Returns the form of an instruction. */
    public static Form of(Instruction i, Mode mode) throws UnverifiedException {
        Form form = OPCODES.get(i.opcode());
        if (mode == Mode.NONE && (form == null || form == COPY || i.has("async") || i.opcode().equals("barrier"))) {
            return alone(i, form);
        }
        if (form == null) {
            throw new UnverifiedException(i.line(), i.mnemonic() + " is no instruction that fenced text has");
        }
        form = special(i, form);
        for (int n = 0; n < i.modifiers().size(); n++) {
            String word = i.modifiers().get(n);
            if (!form.words.contains(word) && !((form == REGISTERS || form == WMMA) && isShape(word))) {
                throw new UnverifiedException(i.line(), i.mnemonic() + " has '." + word + "', which is not known here");
            }
        }
        return form;
    }

    private static Form special(Instruction i, Form form) {
        return switch (i.opcode()) {
            case "cp" -> i.has("commit_group") || i.has("wait_group") || i.has("wait_all") ? GROUP : i.has("bulk") ? BULK : form;
            case "bar", "barrier" -> i.has("warp") ? WARP : i.has("cluster") ? CLUSTER : form;
            case "wmma" -> i.has("mma") ? REGISTERS : form;
            case "shfl", "vote", "match", "redux", "elect" -> i.has("sync") ? form : LANES;
            default -> form;
        };
    }

    private static Form alone(Instruction i, Form form) throws UnverifiedException {
        boolean known = form != null && form != ALONE || i.opcode().equals("mbarrier") || i.opcode().equals("wgmma") && !i.has("mma_async");
        if (!known) {
            throw new UnverifiedException(i.line(), i.mnemonic() + " is no instruction that fenced text has");
        }
        return ALONE;
    }

    private static boolean isShape(String word) {
        if (word.length() < 6 || word.length() > 12 || word.charAt(0) != 'm') {
            return false;
        }
        for (int i = 1; i < word.length(); i++) {
            char c = word.charAt(i);
            if (c != 'n' && c != 'k' && (c < '0' || c > '9')) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether the first operand is written. */
    public boolean writes(Instruction i) {
        return switch (this) {
            case REGISTERS, LANES, LOAD, ATOM -> !i.operands().isEmpty();
            case WARP -> !i.opcode().startsWith("bar");
            case ROWS -> i.opcode().equals("ldmatrix");
            case WMMA -> i.has("load");
            case TEXTURE -> !i.opcode().equals("sust") && !i.opcode().equals("sured");
            case BARRIER -> i.has("red");
            case ALONE -> !i.operands().isEmpty() && !i.opcode().startsWith("bar") && (i.operands().getFirst() instanceof Operand.Register
                    || i.operands().getFirst() instanceof Operand.Vector || i.operands().getFirst() instanceof Operand.Pair);
            default -> false;
        };
    }
}
