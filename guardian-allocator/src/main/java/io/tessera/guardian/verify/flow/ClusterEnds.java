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
 * Verifies that a block's last thread waits until every block of the cluster is down to its last thread, so that a block exists while others may access
 * its shared memory. The rewriter adds code for this, which must match the texts of {@link ClusterText}: a kernel begins with one of the starts, and
 * each place where a thread ends is one of the ends, which count the thread. A function with ends has the code of the last thread as its last
 * instructions, which only these ends reach. Arrivals and waits at the cluster's barrier may be anywhere, since they do not write the count of ends.
 * No other instruction uses the registers of this code, or branches into the middle of it. The remaining code is checked like any other function. It
 * cannot access the counters ({@code WindowValues}), and it does not use the hardware's cluster barrier. Used once.
 */
public final class ClusterEnds {
    private static final Operand ZERO = new Operand.Immediate(0, false);

    private final PtxFunction function;
    private final boolean kernel;
    private final List<Statement> code;
    /** By name in the texts, the name in the function: registers, the label of the last thread, and in {@link #tried} also other labels. */
    private final Map<String, String> names = new HashMap<>();
    private Map<String, String> tried = new HashMap<>();
    private final Set<String> labels = new HashSet<>();

    private ClusterEnds(PtxFunction function) {
        this.function = function;
        this.kernel = function.kind() == PtxFunction.Kind.ENTRY;
        this.code = ClusterText.running(function);
    }

    /** Returns the function without the code that waits for the cluster. Refuses a function in which that code is not as required. */
    public static PtxFunction without(PtxFunction function) throws UnverifiedException {
        return new ClusterEnds(function).rest();
    }

    private PtxFunction rest() throws UnverifiedException {
        int last = last();
        int at = kernel ? take(ClusterText.STARTS, 0) : 0;
        if (kernel && (at == 0 || last == code.size())) {
            throw new UnverifiedException(function.line(), "'" + function.name() + "' does not begin or end as where blocks wait for their cluster");
        }
        List<Statement> all = function.body().orElseThrow().statements();
        List<Statement> left = new ArrayList<>(all.subList(0, all.size() - code.size()));
        while (at < last) {
            at = next(at, last < code.size(), left);
        }
        for (Statement statement : left) {
            check(statement);
        }
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(), function.attributes(),
                Optional.of(new Block(left, function.line())), function.line());
    }

    /** Returns the start of the instructions of the last thread, or the function's end if it has none. */
    private int last() throws UnverifiedException {
        for (List<Statement> text : ClusterText.LASTS) {
            int at = code.size() - text.size();
            // Control does not fall through into them.
            if (at > 0 && code.get(at - 1) instanceof Instruction i && i.guard().isEmpty() && (i.opcode().equals("bra") || i.opcode().equals("ret"))
                    && take(List.of(text), at) == code.size()) {
                return at;
            }
        }
        return code.size();
    }

    /** Takes the statement or text at an index, and returns the index after it. */
    private int next(int at, boolean ends, List<Statement> left) throws UnverifiedException {
        Statement statement = code.get(at);
        if (ends && statement instanceof Instruction i && i.opcode().equals("bra") && i.guard().isPresent()) {
            int behind = find(ClusterText.ENDS, at + 1);
            if (behind > at + 1 && behind < code.size() && code.get(behind) instanceof Label label
                    && i.operands().equals(List.of(new Symbol(label.name(), 0))) && labels.add(label.name())) {
                take(ClusterText.ENDS, at + 1);
                Guard guard = i.guard().get();
                left.add(exit(Optional.of(new Guard(guard.register(), !guard.negated())), i.line()));
                return behind + 1;
            }
        }
        int behind = ends ? take(ClusterText.ENDS, at) : at;
        if (behind > at) {
            left.add(exit(Optional.empty(), statement.line()));
            return behind;
        }
        if (statement instanceof Instruction i && (i.opcode().equals("exit") || kernel && i.opcode().equals("ret"))) {
            throw refused(i, "does not wait for the cluster, whose blocks may reach into each other's shared memory");
        }
        behind = ends ? take(ClusterText.BARRIERS, at) : at;
        left.addAll(behind > at ? Collections.nCopies(behind - at, ClusterText.ORDER) : List.of(statement)); // it counts as work between looks
        return Math.max(behind, at + 1);
    }

    private static Instruction exit(Optional<Guard> guard, int line) {
        return new Instruction(guard, "exit", List.of(), List.of(), line);
    }

    /** Refuses a statement of the remaining code that reads one of the reserved registers, or defines or names one of the labels. */
    private void check(Statement statement) throws UnverifiedException {
        if (statement instanceof Label(String name, int line) && labels.contains(name)) {
            throw new UnverifiedException(line, "'" + name + "' is in two places");
        }
        Set<String> named = new HashSet<>();
        if (statement instanceof Instruction i && !(i.guard().isEmpty() && i.mnemonic().equals("mov.pred") && i.operands().getLast().equals(ZERO))) {
            i.guard().ifPresent(guard -> named.add(guard.register().name()));
            i.operands().forEach(operand -> operand.registers(named::add));
        }
        if (!Collections.disjoint(named, names.values())) {
            throw refused((Instruction) statement, "names what waits for the cluster");
        }
    }

    private static UnverifiedException refused(Instruction i, String why) {
        return new UnverifiedException(i.line(), i.mnemonic() + ": " + why);
    }

    /** Returns the index after the text that begins at an index, or the same index if none of these texts does. */
    private int find(List<List<Statement>> texts, int at) {
        for (List<Statement> text : texts) {
            tried = new HashMap<>(names);
            if (are(text, at)) {
                return at + text.size();
            }
        }
        return at;
    }

    /** As above, and the match is consumed: its names are bound from now on, and its labels must not occur elsewhere. */
    private int take(List<List<Statement>> texts, int at) throws UnverifiedException {
        int behind = find(texts, at);
        for (Map.Entry<String, String> each : behind > at ? tried.entrySet() : Set.<Map.Entry<String, String>>of()) {
            if (each.getKey().startsWith("%") || each.getKey().equals(ClusterText.LAST)) {
                names.put(each.getKey(), each.getValue());
            } else if (!labels.add(each.getValue())) {
                throw new UnverifiedException(function.line(), "'" + each.getValue() + "' is in two places");
            }
        }
        return behind;
    }

    /** Returns whether the statements from an index on match, apart from the names of registers and labels. */
    private boolean are(List<Statement> expected, int from) {
        for (int n = 0; n < expected.size(); n++) {
            boolean same = from + n < code.size() && switch (expected.get(n)) {
                case Label label -> code.get(from + n) instanceof Label here && same(label.name(), here.name());
                case Instruction i -> code.get(from + n) instanceof Instruction here && same(i, here);
                default -> expected.get(n).equals(code.get(from + n));
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

    /** Returns whether a name stands for another one, consistently and exclusively. */
    private boolean same(String expected, String here) {
        String known = tried.get(expected);
        return known == null ? !tried.containsValue(here) && tried.put(expected, here) == null : known.equals(here);
    }
}
