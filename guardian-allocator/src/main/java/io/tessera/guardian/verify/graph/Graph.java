package io.tessera.guardian.verify.graph;

import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.WorkBudget;
import io.tessera.guardian.verify.flow.Body;
import io.tessera.guardian.verify.flow.Flow;
import io.tessera.guardian.verify.flow.FlowEdge;
import io.tessera.guardian.verify.flow.Form;
import io.tessera.guardian.verify.flow.PlaceMap;
import io.tessera.guardian.verify.value.Facts;
import io.tessera.guardian.verify.value.Node.Fact;
import io.tessera.guardian.verify.value.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The values of a function in static single assignment form, for reachable code. A register that one instruction writes has the value of that
 * instruction wherever it dominates; for other registers, the last write is searched block by block. Facts that follow from branches are stored at
 * the places where they hold. The number of values is bounded by the text, or the function is refused.
 */
public final class Graph {
    private static final long STEPS = 64;
    /** Maximum number of steps and values of one function: their memory stays below some 250 MB, whatever the text is. */
    private static final long MOST_STEPS = 1L << 21;
    private static final int MOST_VALUES = 1 << 19;
    private static final int SEARCHED = 8;
    private static final int MOST_PASSES = 4;

    /** The text. */
    public final Body body;
    /** Its control flow. */
    public final Flow flow;
    /** All values. */
    public final List<Node> nodes = new ArrayList<>();
    /** The values in each operand of each instruction; null where it is not reached. */
    public final Node[][][] operands;
    /** The value of each instruction's guard, or null. */
    public final Node[] guards;
    /** Facts that hold after an exit or on an edge, by block, in order of {@link Node#position}-like places. */
    public final List<List<Placed>> facts = new ArrayList<>();
    /** The effect of each instruction. */
    public final Form[] forms;

    /** A fact from an instruction on, in its block. */
    public record Placed(int position, Fact fact) {
    }

    /** Remaining budget of work for the module. */
    public final WorkBudget work;
    private final Mode mode;
    private final Writers writers;
    private final Frontiers frontiers;
    private final PlaceMap<List<Node>> writtenIn = new PlaceMap<>();
    private final PlaceMap<Node> entering = new PlaceMap<>();
    private final Map<FlowEdge, List<Fact>> edgeFacts = new HashMap<>();
    private final ArrayDeque<Node> open = new ArrayDeque<>();
    private final List<Node>[] sigmas;
    private long budget;

    /** Creates the graph of a function with known control flow and known forms of its instructions. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    public Graph(Body body, Flow flow, Form[] forms, Mode mode, WorkBudget work) throws UnverifiedException {
        this.body = body;
        this.flow = flow;
        this.forms = forms;
        this.mode = mode;
        this.work = work;
        writers = new Writers(body, flow, forms);
        frontiers = new Frontiers(flow, writers, work);
        int size = body.code.size();
        budget = Math.min(STEPS * size + (1 << 16), MOST_STEPS);
        operands = new Node[size][][];
        guards = new Node[size];
        sigmas = new List[body.registers()];
        for (int t = 0; t < flow.start.length; t++) {
            facts.add(new ArrayList<>(0));
        }
        for (int block : flow.order) {
            block(block);
        }
        while (!open.isEmpty()) {
            fill(open.removeFirst());
        }
        unite();
        for (Node node : nodes) {
            for (Node arg : node.args) {
                arg.addUser(node);
            }
        }
    }

    private void spend(long steps) throws UnverifiedException {
        work.spend(steps);
        budget -= steps;
        if (budget < 0 || nodes.size() > MOST_VALUES) {
            throw new UnverifiedException(body.function.line(), "the flow of its values is too tangled");
        }
    }

    private Node node(Node.Kind kind, int bits, int block, int position) throws UnverifiedException {
        spend(1);
        Node node = new Node(kind, bits, block, position);
        nodes.add(node);
        return node;
    }

    private void block(int block) throws UnverifiedException {
        List<FlowEdge> in = flow.in.get(block);
        if (in.size() == 1 && block != 0) {
            hold(facts(in.getFirst()), block, flow.start[block] - 1);
        }
        for (int i = flow.start[block]; i < flow.end[block]; i++) {
            instruction(body.code.get(i), block, i);
        }
    }

    private void instruction(Instruction i, int block, int at) throws UnverifiedException {
        Form form = forms[at];
        Node[][] read = new Node[i.operands().size()][];
        boolean writes = form.writes(i);
        List<Node> args = new ArrayList<>(4);
        for (int n = writes ? 1 : 0; n < read.length; n++) {
            List<Node> parts = new ArrayList<>(1);
            values(i.operands().get(n), i, block, at, parts);
            read[n] = parts.toArray(Node.NONE);
            args.addAll(parts);
        }
        operands[at] = read;
        Guard guard = i.guard().orElse(null);
        guards[at] = guard == null ? null : lookup(register(guard.register(), i), block, at);
        List<Operand> results = Writers.results(i, form);
        Node[] all = args.toArray(Node.NONE);
        for (int n = 0; n < results.size(); n++) {
            if (results.get(n) instanceof Operand.Register register) {
                result(i, form, all, register(register, i), n, block, at);
            }
        }
        if (form == Form.LEAVE && guard != null) {
            hold(Facts.of(guards[at], guard.negated()), block, at);
        }
    }

    private void result(Instruction i, Form form, Node[] args, int register, int index, int block, int at) throws UnverifiedException {
        Node made = node(form == Form.CALL ? Node.Kind.UNKNOWN : Node.Kind.RESULT, body.bits(register), block, at);
        made.instruction = i;
        made.index = index;
        made.args = form == Form.CALL ? Node.NONE : args;
        if (guards[at] != null) {
            Node old = writers.alone(register) ? unknown(body.bits(register), block, at) : lookup(register, block, at);
            Node select = node(Node.Kind.SELECT, body.bits(register), block, at);
            select.args = new Node[] {made, old};
            select.guard = guards[at];
            select.negated = i.guard().get().negated();
            made = select;
        }
        write(register, made);
    }

    private void write(int register, Node node) {
        node.register = register;
        if (writers.alone(register)) {
            writers.made(register, node);
        } else {
            written(register, node.trace, node);
        }
    }

    private void written(int register, int block, Node node) {
        List<Node> known = writtenIn.get(register, block);
        if (known == null) {
            known = new ArrayList<>(2);
            writtenIn.put(register, block, known);
        }
        known.add(node);
    }

    private int register(Operand.Register register, Instruction i) throws UnverifiedException {
        return body.register(register.name(), i.line());
    }

    private Node unknown(int bits, int block, int at) throws UnverifiedException {
        return node(Node.Kind.UNKNOWN, bits, block, at);
    }

    private void values(Operand operand, Instruction i, int block, int at, List<Node> into) throws UnverifiedException {
        switch (operand) {
            case Operand.Register register -> into.add(lookup(register(register, i), block, at));
            case Operand.Immediate(long value, boolean _) -> into.add(number(value, block, at));
            case Operand.Symbol(String name, long offset) -> into.add(symbol(name, offset, block, at));
            case Operand.SpecialRegister(String name, String component) -> {
                Node node = node(Node.Kind.SPECIAL, 0, block, at);
                node.special = component.isEmpty() ? name : name + "." + component;
                into.add(node);
            }
            case Operand.Address(Operand.Base base, long _) -> {
                switch (base) {
                    case Operand.Register register -> into.add(lookup(register(register, i), block, at));
                    case Operand.Immediate(long value, boolean _) -> into.add(number(value, block, at));
                    case Operand.Named(String name) -> into.add(symbol(name, 0, block, at));
                }
            }
            case Operand.Vector(List<Operand> elements) -> all(elements, i, block, at, into);
            case Operand.CompoundAddress(List<Operand> parts) -> all(parts, i, block, at, into);
            case Operand.Arguments(List<Operand> elements) -> all(elements, i, block, at, into);
            case Operand.Not(Operand inner) -> {
                List<Node> negated = new ArrayList<>(1);
                values(inner, i, block, at, negated);
                Node node = node(Node.Kind.NOT, 1, block, at);
                node.args = new Node[] {negated.getFirst()};
                into.add(node);
            }
            default -> into.add(unknown(64, block, at));
        }
    }

    private void all(List<Operand> elements, Instruction i, int block, int at, List<Node> into) throws UnverifiedException {
        for (Operand element : elements) {
            values(element, i, block, at, into);
        }
    }

    private Node number(long value, int block, int at) throws UnverifiedException {
        Node node = node(Node.Kind.NUMBER, 64, block, at);
        node.number = value;
        return node;
    }

    private Node symbol(String name, long offset, int block, int at) throws UnverifiedException {
        Symbol symbol = body.symbol(name);
        Node node = node(symbol == null ? Node.Kind.UNKNOWN : Node.Kind.SYMBOL, 64, block, at);
        node.symbol = symbol;
        node.number = offset;
        return node;
    }

    /** The value of a register right before an instruction, or at a block's end. */
    Node lookup(int register, int block, int position) throws UnverifiedException {
        if (writers.alone(register)) {
            Node made = writers.made(register);
            if (made == null && body.isParameter(register) && writers.never(register)) {
                // A value that is passed in a register is the same at every read; an uninitialised register need not be.
                made = node(Node.Kind.UNKNOWN, body.bits(register), 0, -1);
                write(register, made);
            }
            if (made == null || !before(made, block, position)) {
                return unknown(body.bits(register), block, position);
            }
            List<Node> known = sigmas[register];
            for (int n = known == null ? -1 : known.size() - 1, left = SEARCHED; n >= 0 && left > 0; n--, left--) {
                if (before(known.get(n), block, position)) {
                    return known.get(n);
                }
            }
            return made;
        }
        List<Node> here = writtenIn.get(register, block);
        for (int n = here == null ? -1 : here.size() - 1; n >= 0; n--) {
            spend(1);
            if (here.get(n).position < position) {
                return here.get(n);
            }
        }
        return entry(register, block);
    }

    private boolean before(Node node, int block, int position) {
        return node.trace == block ? node.position < position : flow.dominance.dominates(node.trace, block);
    }

    private Node entry(int register, int block) throws UnverifiedException {
        List<Integer> up = new ArrayList<>(4);
        int at = block;
        Node found = null;
        while (found == null) {
            found = entering.get(register, at);
            if (found != null) {
                break;
            }
            spend(1);
            List<FlowEdge> in = flow.in.get(at);
            if (in.isEmpty() || at != 0 && frontiers.isUnwritten(register, at)) {
                found = unknown(body.bits(register), at, -1);
                entering.put(register, at, found);
            } else if (at != 0 && (in.size() == 1 || !frontiers.isJoin(register, at))) {
                up.add(at);
                at = flow.dominance.dominator(at);
                List<Node> there = writtenIn.get(register, at);
                found = there == null ? null : there.getLast();
            } else {
                found = node(Node.Kind.PHI, body.bits(register), at, flow.start[at] - 1);
                found.register = register;
                entering.put(register, at, found);
                open.add(found);
            }
        }
        for (int block1 : up) {
            entering.put(register, block1, found);
        }
        return found;
    }

    private void fill(Node phi) throws UnverifiedException {
        List<FlowEdge> in = flow.in.get(phi.trace);
        List<Node> args = new ArrayList<>(in.size() + 1);
        for (FlowEdge edge : in) {
            spend(1);
            Node value = lookup(phi.register, edge.from(), Integer.MAX_VALUE);
            for (Fact fact : facts(edge)) {
                // A register that holds nothing may be read as something else each time.
                if (fact.target().origin() == value.origin() && value.origin().register >= 0) {
                    value = sigma(value, fact, edge.from(), flow.end[edge.from()]);
                }
            }
            args.add(value);
        }
        if (phi.trace == 0) {
            args.add(unknown(phi.bits, 0, -1));
        }
        phi.args = args.toArray(Node.NONE);
    }

    /** Finds where one value alone comes in. */
    private void unite() {
        boolean changed = true;
        for (int pass = 0; changed && pass < MOST_PASSES; pass++) {
            changed = false;
            for (Node node : nodes) {
                if (node.kind == Node.Kind.PHI && node.same == null) {
                    Node only = null;
                    boolean one = true;
                    for (Node arg : node.args) {
                        Node origin = arg.origin();
                        one &= origin == node || only == null || origin == only;
                        only = origin == node ? only : origin;
                    }
                    node.same = one ? only : null;
                    changed |= node.same != null;
                }
            }
        }
    }

    /** Returns the facts that hold on an edge. */
    public List<Fact> facts(FlowEdge edge) {
        if (edge.position() < 0 || mode == Mode.NONE) {
            return List.of();
        }
        return edgeFacts.computeIfAbsent(edge, e -> {
            boolean negated = body.code.get(e.position()).guard().get().negated();
            return Facts.of(guards[e.position()], e.taken() != negated);
        });
    }

    private Node sigma(Node value, Fact fact, int block, int position) throws UnverifiedException {
        Node sigma = node(Node.Kind.SIGMA, value.bits, block, position);
        sigma.args = new Node[] {value};
        sigma.source = value.kind == Node.Kind.SIGMA ? value.source : value;
        sigma.fact = fact;
        return sigma;
    }

    /** Records a fact that holds from here on, in this block and the blocks that it dominates. */
    private void hold(List<Fact> known, int block, int position) throws UnverifiedException {
        for (Fact fact : known) {
            spend(1);
            facts.get(block).add(new Placed(position, fact));
            int register = fact.target().origin().register;
            if (register < 0 || mode == Mode.NONE) {
                continue;
            }
            Node now = lookup(register, block, position + 1);
            if (now.origin() != fact.target().origin() && now != fact.target()) {
                continue;
            }
            Node sigma = sigma(now, fact, block, position);
            sigma.register = register;
            if (writers.alone(register)) {
                if (sigmas[register] == null) {
                    sigmas[register] = new ArrayList<>(2);
                }
                sigmas[register].add(sigma);
            } else {
                written(register, block, sigma);
            }
        }
    }
}
