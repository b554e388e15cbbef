package io.tessera.software.lowering;

import io.tessera.software.program.BasicBlock;
import io.tessera.software.program.Function;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.Parameter;
import io.tessera.software.program.RegisterClass;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Turns label numbers into instruction indices and code into basic blocks. */
final class CodeLayout {
    private final List<Integer> labels;

    CodeLayout(List<Integer> labels) {
        this.labels = labels;
    }

    Function finish(String name, List<Parameter> parameters, List<Parameter> results, List<RegisterClass> registers,
            int frameBytes, List<LoweredInstruction> labelled) {
        List<LoweredInstruction> code = labelled.stream().map(this::resolve).toList();
        return new Function(name, List.copyOf(parameters), List.copyOf(results), registers.size(),
                Collections.unmodifiableList(new ArrayList<>(registers)), frameBytes, code, blocks(code));
    }

    private LoweredInstruction resolve(LoweredInstruction i) {
        if (i.opcode() != Opcode.BRA && i.opcode() != Opcode.BRX) {
            return i;
        }
        List<LoweredOperand> arguments = new ArrayList<>();
        for (LoweredOperand argument : i.arguments()) {
            arguments.add(argument instanceof LoweredOperand.Target target
                    ? new LoweredOperand.Target(labels.get(target.instruction())) : argument);
        }
        return new LoweredInstruction(i.opcode(), i.types(), i.modifiers(), i.space(), i.results(), arguments, i.guard(),
                i.line(), i.spelling());
    }

    private static List<BasicBlock> blocks(List<LoweredInstruction> code) {
        TreeSet<Integer> leaders = new TreeSet<>();
        leaders.add(0);
        for (int i = 0; i < code.size(); i++) {
            if (code.get(i).opcode().endsBlock()) {
                leaders.add(i + 1);
                leaders.addAll(targets(code.get(i)));
            }
        }
        leaders.remove(code.size());
        Map<Integer, Integer> numbers = new TreeMap<>();
        leaders.forEach(leader -> numbers.put(leader, numbers.size()));
        List<BasicBlock> blocks = new ArrayList<>();
        for (int first : leaders) {
            Integer next = leaders.higher(first);
            int end = next == null ? code.size() : next;
            LoweredInstruction last = code.get(end - 1);
            TreeSet<Integer> successors = new TreeSet<>();
            targets(last).forEach(target -> successors.add(numbers.get(target)));
            if (next != null && (!last.opcode().endsBlock() || last.guard() != null)) {
                successors.add(numbers.get(end));
            }
            blocks.add(new BasicBlock(first, end, List.copyOf(successors)));
        }
        return List.copyOf(blocks);
    }

    private static List<Integer> targets(LoweredInstruction instruction) {
        List<Integer> targets = new ArrayList<>();
        for (LoweredOperand argument : instruction.arguments()) {
            if (argument instanceof LoweredOperand.Target target) {
                targets.add(target.instruction());
            }
        }
        return targets;
    }
}
