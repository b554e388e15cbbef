package io.tessera.cli.fence.machine;

import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.MachineOpcodes;
import java.util.ArrayList;
import java.util.List;

/** Formats an sm_90 instruction: its name in the table, and the operands whose fields are known. Other operands are omitted. Stateless. */
final class InstructionText {
    private InstructionText() {
    }

    /**
     * The text.
     *
     * @param place number of the instruction in its section, for targets of branches
     */
    static String of(long low, long high, int place) {
        MachineOpcode operation = MachineOpcodes.find(Architecture.SM_90, low, high);
        if (operation == null) {
            return "(opcode 0x" + Integer.toHexString(InstructionWord.key(low, high)) + ")";
        }
        List<String> operands = new ArrayList<>();
        if (operation.uniforms() > 0) {
            operands.add(uniform(InstructionWord.uniformDestination(low)));
        } else if (operation.registers() > 0 && operation.registers() != MachineOpcode.MANY) {
            operands.add(register(InstructionWord.destination(low)));
        }
        switch (operation.kind()) {
            case GLOBAL, GLOBAL_REGISTER -> access(operation, low, high, operands);
            case BRANCH, CALL -> operands.add(target(place, Architecture.SM_90.distance(low, high)));
            case MEETING -> operands.add(target(place, InstructionWord.immediate(low)));
            case RETURN -> operands.add(register(InstructionWord.source(low)));
            case PLAIN -> arithmetic(low, high, operands);
            default -> {
                // no other fields are known
            }
        }
        return (predicate(low) + operation.name() + " " + String.join(", ", operands)).stripTrailing();
    }

    private static void access(MachineOpcode operation, long low, long high, List<String> operands) {
        int key = InstructionWord.key(low, high);
        String register = register(InstructionWord.source(low));
        if (operation.kind() == Kind.GLOBAL) {
            GlobalForm form = GlobalForm.of(key);
            String uniform = uniform(form.uniform(low, high));
            String width = form.isWide(high) ? ".64" : ".U32";
            operands.add(form.hasDescriptor(high) ? "desc[" + uniform + "][" + register + width + "]" : "[" + register + width + "+" + uniform + "]");
        } else {
            operands.add("[" + register + (GlobalForm.isRegisterWide(key, high) ? ".64]" : "]"));
        }
        if (operation.registers() == 0 && operation.name().startsWith("ST")) {
            operands.add(register(second(low)));
        }
    }

    /** Adds the operands of instructions in fences, and of sums and products whose fields are known from tests. */
    private static void arithmetic(long low, long high, List<String> operands) {
        String source = register(InstructionWord.source(low));
        String uniformSource = uniform((int) (low >>> 24) & 0x3f);
        String immediate = "0x" + Integer.toHexString(InstructionWord.immediate(low));
        String third = register((int) high & 0xff);
        switch (InstructionWord.key(low, high)) {
            case 0x802, 0x882 -> operands.add(immediate);
            case 0x202 -> operands.add(register(second(low)));
            case 0x1c82 -> operands.add(uniform(second(low) & 0x3f));
            case 0x812 -> operands.addAll(List.of(source, immediate, third));
            case 0x210, 0x225 -> operands.addAll(List.of(source, register(second(low)), third));
            case 0x1890 -> operands.addAll(List.of((high >>> 8 & 1) != 0 ? "-" + uniformSource : uniformSource, immediate));
            case 0x1892 -> operands.addAll(List.of(uniformSource, immediate));
            case 0x1c48 -> operands.addAll(List.of(source, uniform(second(low) & 0x3f), (high >>> 26 & 1) != 0 ? "!PT" : "PT"));
            default -> {
                // no other fields are known
            }
        }
    }

    private static int second(long low) {
        return (int) (low >>> 32) & 0xff;
    }

    private static String target(int place, long distance) {
        return "0x" + Long.toHexString((place + 1L) * InstructionWord.BYTES + distance);
    }

    private static String predicate(long low) {
        int predicate = InstructionWord.predicate(low);
        int number = predicate & 7;
        String name = number == 7 ? "PT" : "P" + number;
        return predicate == InstructionWord.ALWAYS ? "" : "@" + (predicate > 7 ? "!" : "") + name + " ";
    }

    private static String register(int number) {
        return number == InstructionWord.ZERO_REGISTER ? "RZ" : "R" + number;
    }

    private static String uniform(int number) {
        return number == InstructionWord.ZERO_UNIFORM ? "URZ" : "UR" + number;
    }
}
