package io.tessera.guardian.machine.look;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * An instruction's possible reads of registers, predicates and the thread's local memory, which counts as one: more than it does where its
 * form does not tell. Operands are in bits 24, 32 and 64 on; whether the second is a register is in bits 9 to 11, and with bit 91 it is a
 * uniform one. Conditions are in bits 87 to 89, of some also in 77 to 79 and 68 to 70. Loads are asked for their addresses. Learned from
 * code that ptxas made, for what leads to the conditions of branches. Stateless.
 */
final class SourceFields {
    /** Storage of a value. */
    enum File {
        GENERAL, PREDICATE, UNIFORM, UNIFORM_PREDICATE, LOCAL_MEMORY
    }

    private static final int FILE_SHIFT = 8;
    private static final int ALL = 7;
    private static final int WIDEST = 4;
    private static final int REGISTER_FORM = 1;
    private static final int UNIFORM_FORM = 6;
    private static final Set<String> WITH_CONDITION = Set.of("ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "LOP3", "IADD3", "SEL", "FSEL", "FMNMX",
            "IMNMX", "VIMNMX", "VIMNMX3", "VIADDMNMX", "HMNMX2", "LEA", "IMAD", "IMAD.WIDE", "IMAD.HI", "VOTE", "VOTEU", "FSET", "HSET2", "UISETP",
            "UPLOP3", "ULOP3", "UIADD3", "UIADD3.64", "USEL", "ULEA", "UIMAD", "UIMAD.WIDE");
    private static final Set<String> WITH_SECOND_CONDITION = Set.of("PLOP3", "UPLOP3", "IADD3", "UIADD3", "UIADD3.64");
    private static final Set<String> WITH_THIRD_CONDITION = Set.of("PLOP3", "UPLOP3", "ISETP", "UISETP");
    private static final Set<String> WITHOUT_REGISTERS = Set.of("PLOP3", "UPLOP3", "VOTE", "VOTEU", "ELECT", "S2R", "S2UR", "CS2R", "UP2UR", "EXIT",
            "BSYNC", "BREAK", "BRA", "RET");
    /** Those with one operand, in the second place. */
    private static final Set<String> UNARY = Set.of("MOV", "UMOV", "MUFU", "I2F", "F2I", "F2F", "FRND", "POPC", "FLO", "BREV", "IABS", "I2FP", "UFLO",
            "UPOPC");
    private static final Set<String> BINARY = Set.of("ISETP", "FSETP", "DSETP", "HSETP2", "UISETP", "SEL", "FSEL", "USEL", "FMNMX", "IMNMX", "VIMNMX",
            "VIADD", "FMUL", "SGXT", "BMSK", "UBMSK", "FSET", "HSET2");
    private static final Set<String> OF_PAIRS = Set.of("DADD", "DMUL", "DFMA", "DSETP", "IMAD.WIDE", "UIMAD.WIDE", "UIADD3.64", "F2F", "F2I", "I2F",
            "MUFU", "FRND", "BRX", "BRXU");
    /** The register that is stored is in the second place, or in the third. */
    private static final Set<String> STORES = Set.of("STL", "ST");
    /** Those that read up to four registers from a place on. */
    private static final Set<String> WIDE = Set.of("STL", "ST", "HMMA", "IMMA", "DMMA", "QMMA", "HGMMA", "IGMMA", "QGMMA");

    private SourceFields() {
    }

    static File file(int field) {
        return File.values()[field >>> FILE_SHIFT];
    }

    static int number(int field) {
        return field & (1 << FILE_SHIFT) - 1;
    }

    /** Returns whether an instruction may make some threads take another path than others. */
    static boolean goesElsewhere(MachineOpcode operation) {
        return switch (operation.kind()) {
            case BRANCH, INDIRECT_BRANCH, EXIT, RETURN, MEET, CALL, CALL_SYMBOL -> true;
            default -> operation.name().equals("BREAK");
        };
    }

    /** Returns the fields that an instruction may read. */
    static List<Integer> of(MachineOpcode operation, long low, long high) {
        List<Integer> all = new ArrayList<>();
        boolean uniform = operation.name().startsWith("U");
        predicate(all, InstructionWord.predicate(low), false);
        if (uniform) {
            predicate(all, InstructionWord.predicate(low), true);
        }
        if (operation.name().equals("LDL")) {
            all.add(File.LOCAL_MEMORY.ordinal() << FILE_SHIFT);
        }
        conditions(all, operation, low, high);
        if (operation.name().equals("P2R") || operation.name().equals("UP2UR")) {
            for (int number = 0; number < ALL; number++) {
                predicate(all, number, uniform);
            }
        }
        if (!WITHOUT_REGISTERS.contains(operation.name()) && operation.kind() != Kind.CALL && operation.kind() != Kind.CALL_SYMBOL) {
            registers(all, operation, low, high);
        }
        return all;
    }

    private static void conditions(List<Integer> all, MachineOpcode operation, long low, long high) {
        String name = operation.name();
        boolean uniform = name.startsWith("U");
        if (goesElsewhere(operation) || WITH_CONDITION.contains(name)) {
            predicate(all, (int) (high >>> 23), uniform);
        }
        if (WITH_SECOND_CONDITION.contains(name)) {
            predicate(all, (int) (high >>> 13), uniform);
        }
        if (WITH_THIRD_CONDITION.contains(name)) {
            predicate(all, (int) (high >>> 4), uniform);
        }
        // A branch by a uniform predicate; PLOP3, SEL and others may have uniform conditions, too.
        if (name.equals("BRA") && (low & 0xfff) == 0x547) {
            predicate(all, (int) (low >>> 24), true);
        } else if (!uniform && bit(high, 27) && WITH_CONDITION.contains(name)) {
            predicate(all, (int) (high >>> 4), true);
            predicate(all, (int) (high >>> 23), true);
        }
    }

    private static boolean bit(long high, int at) {
        return (high >>> at & 1) != 0;
    }

    private static void registers(List<Integer> all, MachineOpcode operation, long low, long high) {
        String name = operation.name();
        int width = WIDE.contains(name) ? WIDEST : OF_PAIRS.contains(name) ? 2 : 1;
        boolean uniform = name.startsWith("U") || name.equals("BRXU");
        int form = (int) (low >>> 9) & 7;
        if (!UNARY.contains(name)) {
            register(all, InstructionWord.operand(low, high, 0), width, uniform);
        }
        if (form == REGISTER_FORM || STORES.contains(name)) {
            register(all, InstructionWord.operand(low, high, 1), width, uniform);
        } else if (form >= UNIFORM_FORM && bit(high, 27)) {
            register(all, InstructionWord.operand(low, high, 1), width, true);
        }
        if (!UNARY.contains(name) && !BINARY.contains(name)) {
            register(all, InstructionWord.operand(low, high, 2), width, uniform);
        }
    }

    private static void register(List<Integer> all, int first, int width, boolean uniform) {
        int zero = uniform ? InstructionWord.ZERO_UNIFORM : InstructionWord.ZERO_REGISTER;
        int number = uniform ? first & InstructionWord.ZERO_UNIFORM : first;
        for (int i = number; i < number + width && i < zero; i++) {
            all.add((uniform ? File.UNIFORM : File.GENERAL).ordinal() << FILE_SHIFT | i);
        }
    }

    private static void predicate(List<Integer> all, int bits, boolean uniform) {
        int number = bits & ALL;
        if (number != InstructionWord.ALWAYS) {
            all.add((uniform ? File.UNIFORM_PREDICATE : File.PREDICATE).ordinal() << FILE_SHIFT | number);
        }
    }
}
