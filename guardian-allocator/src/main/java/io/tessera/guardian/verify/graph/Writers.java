package io.tessera.guardian.verify.graph;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.flow.Body;
import io.tessera.guardian.verify.flow.Flow;
import io.tessera.guardian.verify.flow.Form;
import io.tessera.guardian.verify.value.Node;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The writers of each register of a function. Used by one thread. */
final class Writers {
    private final int[] counts;
    private final Node[] made;
    /** The blocks that write each register with several writers. */
    private final Map<Integer, List<Integer>> blocks = new HashMap<>();

    Writers(Body body, Flow flow, Form[] forms) throws UnverifiedException {
        List<int[]> found = new ArrayList<>();
        for (int block : flow.order) {
            for (int at = flow.start[block]; at < flow.end[block]; at++) {
                Instruction i = body.code.get(at);
                name(i, body);
                for (Operand result : results(i, forms[at])) {
                    if (result instanceof Operand.Register register) {
                        found.add(new int[] {body.register(register.name(), i.line()), block});
                    }
                }
            }
        }
        counts = new int[body.registers()];
        made = new Node[counts.length];
        found.forEach(each -> counts[each[0]]++);
        found.stream().filter(each -> counts[each[0]] > 1).forEach(each -> blocks.computeIfAbsent(each[0], k -> new ArrayList<>(2)).add(each[1]));
    }

    /** Gives every register that an instruction names its number. */
    private static void name(Instruction i, Body body) throws UnverifiedException {
        if (i.guard().isPresent()) {
            body.register(i.guard().get().register().name(), i.line());
        }
        for (Operand operand : i.operands()) {
            name(operand, i.line(), body);
        }
    }

    private static void name(Operand operand, int line, Body body) throws UnverifiedException {
        switch (operand) {
            case Operand.Register register -> body.register(register.name(), line);
            case Operand.Address(Operand.Register register, long _) -> body.register(register.name(), line);
            case Operand.Vector(List<Operand> elements) -> names(elements, line, body);
            case Operand.CompoundAddress(List<Operand> parts) -> names(parts, line, body);
            case Operand.Arguments(List<Operand> elements) -> names(elements, line, body);
            case Operand.Pair(Operand first, Operand second) -> names(List.of(first, second), line, body);
            case Operand.Not(Operand inner) -> name(inner, line, body);
            case Operand.Minus(Operand inner) -> name(inner, line, body);
            default -> {}
        }
    }

    private static void names(List<Operand> operands, int line, Body body) throws UnverifiedException {
        for (Operand operand : operands) {
            name(operand, line, body);
        }
    }

    /** Returns the operands that an instruction writes, in order. */
    static List<Operand> results(Instruction i, Form form) throws UnverifiedException {
        if (form == Form.CALL) {
            return i.operands().getFirst() instanceof Operand.Arguments(List<Operand> returned) && i.operands().size() > 1
                    && i.operands().get(1) instanceof Operand.Symbol ? returned : List.of();
        }
        if (!form.writes(i)) {
            return List.of();
        }
        return switch (i.operands().getFirst()) {
            case Operand.Register register -> List.of(register);
            case Operand.Vector(List<Operand> elements) -> {
                for (Operand element : elements) {
                    if (!(element instanceof Operand.Register) && !(element instanceof Operand.Sink)) {
                        throw new UnverifiedException(i.line(), i.mnemonic() + " writes what is no register");
                    }
                }
                yield elements;
            }
            case Operand.Pair(Operand first, Operand second) when isPlain(first) && isPlain(second) -> List.of(first, second);
            case Operand.Pair(Operand.Vector(List<Operand> elements), Operand.Register second) -> {
                List<Operand> all = new ArrayList<>(elements);
                all.add(second);
                yield all;
            }
            case Operand.Sink sink -> List.of(sink);
            default -> throw new UnverifiedException(i.line(), i.mnemonic() + " writes what is no register");
        };
    }

    /** Returns whether an instruction writes the two halves of a word. */
    static boolean isHalves(Instruction i) {
        return i.operands().size() == 2 && i.operands().getFirst() instanceof Operand.Vector(List<Operand> elements) && elements.size() == 2;
    }

    private static boolean isPlain(Operand operand) {
        return operand instanceof Operand.Register || operand instanceof Operand.Sink;
    }

    /** Returns whether at most one instruction writes a register. */
    boolean alone(int register) {
        return counts[register] <= 1;
    }

    /** Returns whether no instruction writes a register. */
    boolean never(int register) {
        return counts[register] == 0;
    }

    /** Returns the blocks that write a register with several writers, in order. */
    List<Integer> blocks(int register) {
        return blocks.getOrDefault(register, List.of());
    }

    void made(int register, Node node) {
        made[register] = node;
    }

    /** Returns the value written, or null if it is not read yet, or never written. */
    Node made(int register) {
        return made[register];
    }
}
