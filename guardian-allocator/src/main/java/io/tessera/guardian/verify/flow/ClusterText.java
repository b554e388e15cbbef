package io.tessera.guardian.verify.flow;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.util.ArrayList;
import java.util.List;

/**
 * The texts that {@link ClusterEnds} expects, instruction for instruction. Their counters are in the last 24 bytes of dynamic shared memory: the
 * threads of the block that have ended, the blocks that are down to their last thread, and two words that only the cluster's barrier uses. Immutable.
 */
final class ClusterText {
    private static final String WORDS = """
            mov.u32 words, __tessera_shared;
            mov.u32 s, %dynamic_smem_size;
            sub.u32 s, s, 16;
            and.b32 s, s, -8;
            add.u32 words, words, s;
            """;
    private static final String CLEAR = """
            mov.u32 r, %tid.x;
            mov.u32 s, %tid.y;
            or.b32 r, r, s;
            mov.u32 s, %tid.z;
            or.b32 r, r, s;
            """ + WORDS + """
            setp.eq.u32 q, r, 0;
            @q st.shared.u64 [words], 0;
            @q st.shared.u64 [words+8], 0;
            barrier.cluster.arrive;
            barrier.cluster.wait;
            """;
    private static final String ALONE = """
            mov.u32 blocks, %cluster_nctarank;
            setp.eq.u32 q, blocks, 1;
            """;
    private static final String THREADS = """
            fence.acq_rel.cluster;
            """ + WORDS + """
            mov.u32 threads, %ntid.x;
            mov.u32 s, %ntid.y;
            mul.lo.u32 threads, threads, s;
            mov.u32 s, %ntid.z;
            mul.lo.u32 threads, threads, s;
            """;
    /** Writes only the last two of these words. */
    private static final String COMPLETE = """
            bfe.u32 t, r, 12, 12;
            and.b32 s, r, 4095;
            setp.eq.u32 q, s, threads;
            setp.ne.and.u32 q, t, threads, q;
            @!q bra notN;
            sub.u32 s, r, threads;
            add.u32 s, s, t;
            add.u32 s, s, 16777216;
            atom.relaxed.cluster.shared.cas.b32 s, [words+8], r, s;
            setp.ne.u32 q, s, r;
            @q bra notN;
            fence.acq_rel.cluster;
            mov.u32 blocks, %cluster_nctarank;
            eachN:
            .pragma "nounroll";
            sub.u32 blocks, blocks, 1;
            mapa.shared::cluster.u32 s, words, blocks;
            red.relaxed.cluster.shared::cluster.add.u32 [s+12], 16777216;
            setp.ne.u32 q, blocks, 0;
            @q bra eachN;
            notN:
            """;
    private static final String COUNT = """
            atom.acq_rel.cluster.shared.add.u32 s, [words], 1;
            add.u32 s, s, 1;
            setp.ne.u32 q, s, threads;
            @q exit;
            bra last;
            """;
    private static final String END = ALONE + "@q exit;\n" + THREADS + COUNT;
    private static final String LEAVE = THREADS + """
            selp.b32 r, 4096, 4097, arrived;
            atom.relaxed.cluster.shared.add.u32 s, [words+8], r;
            add.u32 r, r, s;
            xor.b32 s, s, phase;
            setp.ge.u32 q, s, 16777216;
            and.pred q, q, arrived;
            @q atom.relaxed.cluster.shared.add.u32 r, [words+8], 1;
            @q add.u32 r, r, 1;
            """ + COMPLETE.replace("N:", "1:").replace("N;", "1;") + ALONE + "@q exit;\n" + COUNT;
    private static final String ARRIVE = """
            @arrived bra arrives;
            """ + THREADS + """
            atom.relaxed.cluster.shared.add.u32 phase, [words+8], 1;
            mov.pred arrived, 1;
            add.u32 r, phase, 1;
            """ + COMPLETE.replace("N:", "2:").replace("N;", "2;") + "arrives:\n";
    private static final String WAIT = "@!arrived bra waited;\n" + WORDS + """
            and.b32 phase, phase, -16777216;
            add.u32 phase, phase, 16777216;
            mov.u32 blocks, %cluster_nctarank;
            mov.u32 fuel, 1;
            looks:
            .pragma "nounroll";
            ld.relaxed.cluster.shared.u32 r, [words+12];
            and.b32 s, r, 255;
            sub.u32 s, s, blocks;
            mad.lo.u32 s, s, phase, r;
            setp.lt.s32 q, s, 0;
            sub.u32 fuel, fuel, 1;
            setp.lt.and.s32 p, fuel, 1, q;
            @p ld.const.u64 stop, [__tessera_window+40];
            @p ld.volatile.global.u32 fuel, [stop];
            setp.gt.and.s32 p, fuel, 0, q;
            @p nanosleep.u32 20;
            @p bra looks;
            @!q bra over;
            """ + END + """
            over:
            fence.acq_rel.cluster;
            mov.pred arrived, 0;
            waited:
            """;
    private static final String WITHDRAW = """
            ld.relaxed.cluster.shared.u32 r, [words+8];
            and.b32 r, r, -16777216;
            sub.u32 r, 1, r;
            """;
    private static final String STAY = """
            mov.u32 threads, blocks;
            countN:
            .pragma "nounroll";
            sub.u32 threads, threads, 1;
            mapa.shared::cluster.u32 s, words, threads;
            WITHDRAWN
            red.release.cluster.shared::cluster.add.u32 [s+4], 1;
            setp.ne.u32 q, threads, 0;
            @q bra countN;
            stayN:
            .pragma "nounroll";
            ld.acquire.cluster.shared.u32 s, [words+4];
            setp.eq.u32 q, s, blocks;
            @q exit;
            nanosleep.u32 20;
            bra stayN;
            """;
    private static final String NEXT = "trap;\n";

    /** The start of a kernel that does not reach the cluster's barrier, and of one that may. */
    static final List<List<Statement>> STARTS;
    /** The end of a thread. */
    static final List<List<Statement>> ENDS;
    /** An arrival at the barrier, and a wait, in which a thread may end. */
    static final List<List<Statement>> BARRIERS;
    /** The code of the last thread of a block, after the label to which ends branch. */
    static final List<List<Statement>> LASTS;
    /** Name of that label in these texts. */
    static final String LAST;
    /** An instruction without an effect, which stands for removed ones so that they count as work. */
    static final Statement ORDER;

    static {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 __tessera_shared[];\n"
                + ".const .align 16 .b64 __tessera_window[8];\n.entry kernel()\n{\n.reg .pred arrived, p, q;\n.reg .b64 stop;\n"
                + ".reg .b32 words, threads, blocks, phase, fuel, r, s, t;\n";
        text += String.join(NEXT, ALONE + "@q bra begun;\n" + CLEAR + "begun:\n", "mov.pred arrived, 0;\n" + CLEAR + "starts:\n", END, LEAVE, ARRIVE,
                WAIT, "last:\n",
                STAY.replace("WITHDRAWN\n", "").replace("N:", "3:").replace("N;", "3;"),
                WITHDRAW + STAY.replace("WITHDRAWN", "red.relaxed.cluster.shared::cluster.add.u32 [s+12], r;").replace("N:", "4:").replace("N;",
                        "4;"))
                + "}\n";
        try {
            List<List<Statement>> parts = parts(running(PtxParser.parse(text).functions().getFirst()));
            STARTS = parts.subList(0, 2);
            ENDS = parts.subList(2, 4);
            BARRIERS = parts.subList(4, 6);
            LASTS = parts.subList(7, 9).stream().map(part -> {
                List<Statement> whole = new ArrayList<>(parts.get(6));
                whole.addAll(part);
                return whole;
            }).toList();
            LAST = ((Label) parts.get(6).getFirst()).name();
            ORDER = parts.get(3).getFirst();
        } catch (PtxException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private ClusterText() {
    }

    private static List<List<Statement>> parts(List<Statement> statements) {
        List<List<Statement>> parts = new ArrayList<>();
        int first = 0;
        for (int at = 0; at <= statements.size(); at++) {
            if (at == statements.size() || statements.get(at) instanceof Instruction i && i.opcode().equals("trap")) {
                parts.add(statements.subList(first, at));
                first = at + 1;
            }
        }
        return parts;
    }

    /** Returns the statements of a function's body after its first declarations. */
    static List<Statement> running(PtxFunction function) {
        List<Statement> all = function.body().orElseThrow().statements();
        int first = 0;
        while (first < all.size() && !(all.get(first) instanceof Instruction || all.get(first) instanceof Label)) {
            first++;
        }
        return all.subList(first, all.size());
    }
}
