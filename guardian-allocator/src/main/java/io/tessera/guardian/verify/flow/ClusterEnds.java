package io.tessera.guardian.verify.flow;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Operand.Address;
import io.tessera.guardian.ptx.Operand.Register;
import io.tessera.guardian.ptx.Operand.Symbol;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Whether the last thread of a block ends only when all threads of its cluster have ended, so that the block is there while others may reach into its
 * shared memory. A kernel begins with what is before {@code all:} in {@link #KERNEL}, and ends with the rest, and no other instruction ends a thread. A device
 * function in which threads end has that rest too, without the wait under {@code arrived}. In a kernel a wait at the cluster's barrier is
 * {@code @arrived barrier.cluster.wait; mov.pred arrived, 0;}. The same is before an arrival there, which sets the predicate, and before a call. Nothing else
 * names these registers, and device functions have no such barrier. What is left when this is taken away is checked like any other function; no access
 * of it comes to the two words ({@code WindowValues}). Used once.
 */
public final class ClusterEnds {
    /** The two words are in the last 16 bytes of dynamic shared memory: threads of the block that have ended, and blocks without other threads. */
    private static final String KERNEL = """
            .version 8.0
            .target sm_90
            .address_size 64
            .extern .shared .align 16 .b8 __tessera_shared[];
            .entry kernel()
            {
            .reg .pred arrived, q;
            .reg .b32 words, blocks, r, s;
                mov.pred arrived, 0;
                mov.u32 blocks, %cluster_nctarank;
                setp.eq.u32 q, blocks, 1;
                @q bra begun;
                mov.u32 r, %tid.x;
                mov.u32 s, %tid.y;
                or.b32 r, r, s;
                mov.u32 s, %tid.z;
                or.b32 r, r, s;
                mov.u32 words, __tessera_shared;
                mov.u32 s, %dynamic_smem_size;
                sub.u32 s, s, 8;
                and.b32 s, s, -8;
                add.u32 words, words, s;
                setp.eq.u32 q, r, 0;
                @q st.shared.u64 [words], 0;
                barrier.cluster.arrive;
                barrier.cluster.wait;
            begun:
            all:
                mov.u32 blocks, %cluster_nctarank;
                setp.eq.u32 q, blocks, 1;
                @q exit;
                fence.acq_rel.cluster;
                mov.u32 words, __tessera_shared;
                mov.u32 s, %dynamic_smem_size;
                sub.u32 s, s, 8;
                and.b32 s, s, -8;
                add.u32 words, words, s;
                mov.u32 r, %ntid.x;
                mov.u32 s, %ntid.y;
                mul.lo.u32 r, r, s;
                mov.u32 s, %ntid.z;
                mul.lo.u32 r, r, s;
                atom.acq_rel.cluster.shared.add.u32 s, [words], 1;
                add.u32 s, s, 1;
                setp.ne.u32 q, s, r;
                @q exit;
                @arrived barrier.cluster.wait;
                mov.u32 r, blocks;
            count:
                sub.u32 r, r, 1;
                mapa.shared::cluster.u32 s, words, r;
                red.release.cluster.shared::cluster.add.u32 [s+4], 1;
                setp.ne.u32 q, r, 0;
                @q bra count;
            round:
                ld.acquire.cluster.shared.u32 s, [words+4];
                setp.eq.u32 q, s, blocks;
                @q exit;
                barrier.cluster.arrive;
                barrier.cluster.wait;
                bra round;
            }
            """;
    private static final List<Statement> START;
    private static final List<Statement> END;
    /** Registers and labels of that text, as the parser names them. */
    private static final Register ARRIVED;
    private static final String ALL;
    /** Length of {@code @arrived barrier.cluster.wait; mov.pred arrived, 0;}. */
    private static final int WAITED = 2;

    static {
        try {
            List<Statement> text = running(PtxParser.parse(KERNEL).functions().getFirst());
            int all = 0;
            while (!(text.get(all) instanceof Label && text.get(all + 1) instanceof Label)) {
                all++;
            }
            all++;
            START = text.subList(0, all);
            END = text.subList(all, text.size());
            ARRIVED = (Register) ((Instruction) START.getFirst()).operands().getFirst();
            ALL = ((Label) END.getFirst()).name();
        } catch (PtxException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final PtxFunction function;
    private final boolean kernel;
    private final List<Statement> code;
    private final Map<String, String> names = new HashMap<>();

    private ClusterEnds(PtxFunction function) {
        this.function = function;
        this.kernel = function.kind() == PtxFunction.Kind.ENTRY;
        this.code = running(function);
    }

    private static List<Statement> running(PtxFunction function) {
        List<Statement> all = function.body().orElseThrow().statements();
        int first = 0;
        while (first < all.size() && !(all.get(first) instanceof Instruction || all.get(first) instanceof Label)) {
            first++;
        }
        return all.subList(first, all.size());
    }

    /** The function without what waits for the cluster. Refuses one in which that is not as it has to be. */
    public static PtxFunction without(PtxFunction function) throws UnverifiedException {
        return new ClusterEnds(function).rest();
    }

    private PtxFunction rest() throws UnverifiedException {
        List<Statement> end = kernel ? END
                : END.stream().filter(each -> !(each instanceof Instruction i && isBarrier(i) && i.guard().isPresent())).toList();
        boolean ends = kernel || code.stream().anyMatch(each -> each instanceof Instruction i && i.opcode().equals("exit"));
        int first = kernel ? START.size() : 0;
        int last = code.size() - (ends ? end.size() : 0);
        if (last < first || kernel && !are(START, 0) || ends && !are(end, last)) {
            throw new UnverifiedException(function.line(), "'" + function.name() + "' does not begin or end as where blocks wait for their cluster");
        }
        List<Statement> all = function.body().orElseThrow().statements();
        List<Statement> left = new ArrayList<>(all.subList(0, all.size() - code.size()));
        for (int at = first; at < last; at++) {
            left.add(code.get(at) instanceof Instruction i ? checked(i, at) : code.get(at));
        }
        left.addAll(ends ? List.of(code.get(last), exit(Optional.empty(), function.line())) : List.of());
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(), function.attributes(),
                Optional.of(new Block(left, function.line())), function.line());
    }

    /** An instruction of the rest; a branch to where threads end is an end. */
    private Instruction checked(Instruction i, int at) throws UnverifiedException {
        if (i.opcode().equals("exit") || kernel && i.opcode().equals("ret")) {
            throw refused(i, "does not wait for the cluster, whose blocks may reach into each other's shared memory");
        }
        if (!kernel && isBarrier(i)) {
            throw refused(i, "in a function that is called");
        }
        if (!(kernel && isKnown(i, at)) && names(i)) {
            throw refused(i, "names what waits for the cluster");
        }
        if (kernel && (isBarrier(i) || i.opcode().equals("call")) && !isKnown(i, at)) {
            throw refused(i, "whether the thread has arrived at the cluster's barrier is not shown");
        }
        boolean ends = i.opcode().equals("bra") && i.operands().getFirst().equals(new Symbol(names.getOrDefault(ALL, ""), 0));
        return ends ? exit(i.guard(), i.line()) : i;
    }

    private static Instruction exit(Optional<Guard> guard, int line) {
        return new Instruction(guard, "exit", List.of(), List.of(), line);
    }

    /** Whether an instruction stands where it may at the cluster's barrier, and its predicate says so. */
    private boolean isKnown(Instruction i, int at) {
        if (isBarrier(i) && !i.has("arrive")) {
            return isWaited(at);
        }
        if (isBarrier(i)) {
            return i.guard().isEmpty() && isWaited(at - WAITED) && sets(at + 1, 1);
        }
        if (i.opcode().equals("call")) {
            return i.guard().isEmpty() && isWaited(at - WAITED) && i.operands().stream().noneMatch(this::names);
        }
        return sets(at, 0) ? isWaited(at - 1)
                : sets(at, 1) && code.get(at - 1) instanceof Instruction before && isBarrier(before) && before.has("arrive");
    }

    private static UnverifiedException refused(Instruction i, String why) {
        return new UnverifiedException(i.line(), i.mnemonic() + ": " + why);
    }

    private static boolean isBarrier(Instruction i) {
        return i.opcode().equals("barrier") && i.has("cluster");
    }

    private boolean names(Instruction i) {
        return i.guard().isPresent() && names(i.guard().get().register()) || i.operands().stream().anyMatch(this::names);
    }

    private boolean names(Operand operand) {
        Set<String> found = new HashSet<>();
        operand.registers(found::add);
        return !Collections.disjoint(found, names.values());
    }

    private Register arrived() {
        return new Register(names.get(ARRIVED.name()));
    }

    /** Whether a thread that has arrived waits there, and is known not to have arrived behind it. */
    private boolean isWaited(int at) {
        return at >= 0 && code.get(at) instanceof Instruction wait && isBarrier(wait) && wait.has("wait")
                && wait.guard().equals(Optional.of(new Guard(arrived(), false))) && sets(at + 1, 0);
    }

    private boolean sets(int at, int value) {
        return code.get(at) instanceof Instruction i && i.guard().isEmpty() && i.mnemonic().equals("mov.pred")
                && i.operands().equals(List.of(arrived(), new Operand.Immediate(value, false)));
    }

    /** Whether statements from a place on are those, but for the names of registers and labels. */
    private boolean are(List<Statement> expected, int from) {
        for (int n = 0; n < expected.size(); n++) {
            boolean same = switch (expected.get(n)) {
                case Label label -> code.get(from + n) instanceof Label here && same(label.name(), here.name());
                case Instruction i -> code.get(from + n) instanceof Instruction here && same(i, here);
                default -> false;
            };
            if (!same) {
                return false;
            }
        }
        return true;
    }

    private boolean same(Instruction expected, Instruction here) {
        boolean same = expected.mnemonic().equals(here.mnemonic()) && expected.operands().size() == here.operands().size()
                && expected.guard().isPresent() == here.guard().isPresent();
        same = same && (expected.guard().isEmpty() || expected.guard().get().negated() == here.guard().get().negated()
                && same(expected.guard().get().register(), here.guard().get().register()));
        for (int n = 0; same && n < expected.operands().size(); n++) {
            same = same(expected.operands().get(n), here.operands().get(n));
        }
        return same;
    }

    private boolean same(Operand expected, Operand here) {
        return switch (expected) {
            case Register(String name) -> here instanceof Register(String other) && same(name, other);
            case Symbol(String name, long offset) when name.startsWith("$") ->
                here instanceof Symbol(String other, long further) && offset == further && same(name, other);
            case Address(Register(String name), long offset) ->
                here instanceof Address(Register(String other), long further) && offset == further && same(name, other);
            default -> expected.equals(here);
        };
    }

    /** Whether a name stands for another one, here as elsewhere, and no other does. */
    private boolean same(String expected, String here) {
        String known = names.get(expected);
        return known == null ? !names.containsValue(here) && names.put(expected, here) == null : known.equals(here);
    }
}
