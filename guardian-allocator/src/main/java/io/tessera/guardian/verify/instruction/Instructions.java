package io.tessera.guardian.verify.instruction;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.flow.Form;
import io.tessera.guardian.verify.graph.Graph;
import io.tessera.guardian.verify.instruction.Accesses.Touch;
import io.tessera.guardian.verify.value.Lanes;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Value;
import io.tessera.guardian.verify.value.ValueRefinement;
import java.util.List;
import java.util.Set;

/** Checks each form of instruction against its rules. Used for one function. */
public final class Instructions {
    private static final int LINE_BYTES = 128;
    private static final int ROW_BYTES = 16;
    private static final int BARRIERS = 16;
    /**
     * Normal, evict first and evict last, as {@code createpolicy.fractional} returns them for a fraction of 1. Other numbers may end the context
     * (error 715).
     */
    private static final Set<Long> POLICIES = Set.of(0x1000_0000_0000_0000L, 0x12F0_0000_0000_0000L, 0x14F0_0000_0000_0000L);

    private final Graph graph;
    private final Accesses accesses;
    private final ModuleNames module;
    private final Calls calls;
    private final Matrices matrices;
    private final Bulks bulks;

    /** Creates the checks of one function of a module. */
    public Instructions(Graph graph, ModuleNames module, Calls calls) {
        this.graph = graph;
        this.module = module;
        this.calls = calls;
        this.accesses = new Accesses(graph);
        this.matrices = new Matrices(graph, accesses);
        this.bulks = new Bulks(graph, accesses);
    }

    /** All that control reaches. */
    public void check() throws UnverifiedException {
        for (int block : graph.flow.order) {
            for (int at = graph.flow.start[block]; at < graph.flow.end[block]; at++) {
                check(at, block);
            }
        }
    }

    private static UnverifiedException refused(Instruction i, String why) {
        return new UnverifiedException(i.line(), i.mnemonic() + ": " + why);
    }

    private void check(int at, int block) throws UnverifiedException {
        Instruction i = graph.body.code.get(at);
        Form form = graph.forms[at];
        if (form == Form.CALL) {
            calls.check(i, at, block);
            return;
        }
        if (form == Form.LEAVE && i.opcode().equals("ret") && graph.body.function.attribute("noreturn").isPresent()) {
            throw refused(i, "a function that does not return");
        }
        if (module.mode() == Mode.NONE) {
            return;
        }
        if (i.has("L2::cache_hint") && !(i.operands().getLast() instanceof Operand.Immediate(long policy, boolean _) && POLICIES.contains(policy))) {
            throw refused(i, "its cache policy is none of those that are known");
        }
        switch (form) {
            case LOAD -> memory(i, at, block, 1, false);
            case STORE, RED -> memory(i, at, block, 0, true);
            case ATOM -> memory(i, at, block, 1, true);
            case PREFETCH -> accesses.check(new Touch(at, block, i.space().orElse(StateSpace.GLOBAL), 1, 1, false), 0);
            case LINE -> accesses.check(new Touch(at, block, StateSpace.GLOBAL, LINE_BYTES, LINE_BYTES, true), 0);
            case COPY -> copy(i, at, block);
            case BULK -> bulks.check(i, at, block);
            case ROWS -> accesses.check(new Touch(at, block, i.space().orElse(null), ROW_BYTES, ROW_BYTES, !i.opcode().equals("ldmatrix")),
                    i.opcode().equals("ldmatrix") ? 1 : 0);
            case WMMA -> matrices.check(i, at, block);
            case TEXTURE -> texture(i, at);
            case WARP -> members(i, at);
            case BARRIER -> barrier(i, at);
            case TABLE -> table(i, at);
            case REGISTERS, LANES, EFFECT, GROUP, ORDER, BRANCH, LEAVE -> {}
            case CLUSTER -> throw refused(i, "a thread that waits there does not look at the stop word");
            default -> throw refused(i, "is not known here");
        }
    }

    private void memory(Instruction i, int at, int block, int operand, boolean write) throws UnverifiedException {
        ScalarType type = i.type().orElseThrow(() -> refused(i, "has no type"));
        int bytes = type.bytes() * i.vectorLength();
        int named = 0;
        for (String word : i.modifiers()) {
            named += StateSpace.of(word) != null ? 1 : 0;
        }
        if (named > 1) {
            throw refused(i, "names two spaces");
        }
        accesses.check(new Touch(at, block, i.space().orElse(null), bytes, bytes, write), operand);
    }

    private void copy(Instruction i, int at, int block) throws UnverifiedException {
        List<Operand> operands = i.operands();
        boolean known = i.has("async") && operands.size() >= 3 && i.has("global") && (i.has("shared") || i.has("shared::cta"))
                && operands.get(2) instanceof Operand.Immediate;
        long bytes = known ? ((Operand.Immediate) operands.get(2)).value() : 0;
        if (bytes != 4 && bytes != 8 && bytes != 16) {
            throw refused(i, "is a form of it that is not known here");
        }
        accesses.check(new Touch(at, block, StateSpace.SHARED, bytes, (int) bytes, true), 0);
        accesses.check(new Touch(at, block, StateSpace.GLOBAL, bytes, (int) bytes, false), 1);
        int sizes = operands.size() - (i.has("L2::cache_hint") ? 1 : 0);
        if (sizes > 4) {
            throw refused(i, "has too many operands");
        }
        if (sizes == 4) {
            Node size = graph.operands[at][3].length == 1 ? graph.operands[at][3][0] : null;
            boolean fits = size != null
                    && (size.bits == 1 || size.value.unsigned(Integer.SIZE).low() >= 0 && size.value.unsigned(Integer.SIZE).high() <= bytes);
            if (!fits) {
                throw refused(i, "may read more than " + bytes + " bytes");
            }
        }
    }

    private void texture(Instruction i, int at) throws UnverifiedException {
        boolean surface = i.opcode().startsWith("su") && !i.opcode().equals("suq");
        if (surface && !i.has("zero") && !i.has("clamp")) {
            throw refused(i, "does not say what happens out of bounds");
        }
        boolean found = false;
        for (int n = 0; n < i.operands().size(); n++) {
            switch (i.operands().get(n)) {
                case Operand.Address(Operand.Base base, long offset) -> {
                    boolean known = offset == 0 && (base instanceof Operand.Named(String name) ? module.isReference(name)
                            : base instanceof Operand.Register && isHandle(graph.operands[at][n][0], i, at));
                    found = true;
                    if (!known) {
                        throw refused(i, "its handle was not looked up");
                    }
                }
                case Operand.CompoundAddress(List<Operand> parts) -> {
                    found = true;
                    handles(parts, graph.operands[at][n], i, at);
                }
                default -> {}
            }
        }
        if (!found) {
            throw refused(i, "has no handle");
        }
    }

    private void handles(List<Operand> parts, Node[] nodes, Instruction i, int at) throws UnverifiedException {
        int next = 0;
        for (Operand part : parts) {
            boolean first = next == 0;
            switch (part) {
                case Operand.Symbol(String name, long offset) -> {
                    if (!module.isReference(name) || offset != 0) {
                        throw refused(i, "'" + name + "' is no texture");
                    }
                    next++;
                }
                case Operand.Register _ -> {
                    Node node = nodes[next++];
                    if ((first || node.bits > Integer.SIZE) && !isHandle(node, i, at)) {
                        throw refused(i, "its handle was not looked up");
                    }
                }
                case Operand.Vector(List<Operand> elements) when !first -> next += elements.size();
                case Operand.Immediate _ when !first -> next++;
                default -> throw refused(i, "its handle is not understood");
            }
        }
    }

    private boolean isHandle(Node node, Instruction i, int at) {
        Value value = node.value;
        boolean negated = i.guard().isPresent() && i.guard().get().negated();
        return ValueRefinement.isHandle(value) && (value.condition() == null || value.condition() == graph.guards[at] && value.unless() == negated);
    }

    private void members(Instruction i, int at) throws UnverifiedException {
        Node[] last = graph.operands[at][i.operands().size() - 1];
        Value mask = last == null || last.length != 1 ? Value.ANY : last[0].value;
        boolean all = mask.exact() && (mask.low() & 0xFFFF_FFFFL) == 0xFFFF_FFFFL;
        if (!all && !mask.is(Value.Kind.LANES)) {
            throw refused(i, "its mask is not shown to have the own lane");
        }
    }

    /** A number that there is, the same in all lanes, and no more threads than the block has, in whole warps. */
    private void barrier(Instruction i, int at) throws UnverifiedException {
        int first = i.has("red") ? 1 : 0;
        int numbers = i.operands().size() - (i.has("red") ? 2 : 0);
        boolean known = (i.has("sync") || i.has("red") || i.has("arrive") && numbers == 2) && (numbers == 1 || numbers == 2 && module.linked())
                && i.operands().get(first) instanceof Operand.Immediate(long number, boolean _) && number >= 0
                && number < (module.linked() ? BARRIERS : 1);
        boolean counted = known && numbers == 2;
        if (!known || counted && !(graph.operands[at][first + 1].length == 1 && Lanes.isOfBlock(graph.operands[at][first + 1][0]))) {
            throw refused(i, "a barrier that is not all of the block's number 0");
        }
    }

    private void table(Instruction i, int at) throws UnverifiedException {
        Value index = graph.operands[at][0][0].value.unsigned(Integer.SIZE);
        if (index.low() < 0 || index.high() >= graph.flow.targets(i).size()) {
            throw refused(i, "its index is not shown to be below " + graph.flow.targets(i).size());
        }
    }
}
