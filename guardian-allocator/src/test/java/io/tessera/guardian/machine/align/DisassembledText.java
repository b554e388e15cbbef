package io.tessera.guardian.machine.align;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An instruction as nvdisasm prints it, and what it computes and accesses by that text alone: a second reading of what the words say. Immutable. */
record DisassembledText(String name, List<String> operands) {
    private static final Pattern INSTRUCTION = Pattern.compile("(?:@!?U?P\\S+\\s+)?([A-Z][A-Za-z0-9_.]*)\\s*(.*)");
    private static final Pattern ADDRESS = Pattern.compile("\\[([^\\]]*)\\]");
    private static final Pattern DESCRIPTOR = Pattern.compile("desc\\[[^\\]]*\\]");
    private static final Pattern ACCESS = Pattern.compile("(LDG|LD|STG|ST|LDS|STS|LDL|STL|LDSM|STSM|ATOM|ATOMG|ATOMS|REDG|LDGSTS|SYNCS)(\\..*)?");

    /** Reads a line without its offset and its semicolon. */
    static DisassembledText of(String line) {
        Matcher parts = INSTRUCTION.matcher(line.strip());
        if (!parts.matches()) {
            throw new IllegalArgumentException(line);
        }
        List<String> operands = new ArrayList<>();
        for (String operand : parts.group(2).split(",")) {
            String plain = operand.strip().replace(".reuse", "");
            if (!plain.isEmpty() && !plain.matches("!?U?P(T|\\d)")) {
                operands.add(plain);
            }
        }
        return new DisassembledText(parts.group(1), operands);
    }

    /** The register that it writes first; empty: it computes nothing that is followed. */
    Optional<String> result() {
        return value(_ -> 0).isEmpty() ? Optional.empty() : Optional.of(operands.getFirst());
    }

    /** Returns the low 32 bits of its result; for a selection, the second operand. Empty if the result is not known here. */
    OptionalInt value(ToIntFunction<String> register) {
        String base = name.replaceFirst("^U(?=MOV|IADD3|IMAD|LEA|LOP3|SHF|SEL|PRMT)", "");
        boolean carry = name.contains(".X") || name.contains(".HI");
        if (base.startsWith("SHF.R") && name.contains(".HI") && operands.size() == 4 && isZero(1)) {
            int count = of(2, register);
            int value = of(3, register);
            return OptionalInt.of(name.contains(".S32") ? value >> count : value >>> count);
        }
        if (carry || name.contains(".16x2") || operands.size() < 2) {
            return OptionalInt.empty();
        }
        return switch (base.split("\\.")[0]) {
            case "MOV" -> OptionalInt.of(of(1, register));
            case "R2UR" -> operands.size() == 2 && name.equals("R2UR") ? OptionalInt.of(of(1, register)) : OptionalInt.empty();
            case "IADD3" -> OptionalInt.of(of(1, register) + of(2, register) + (operands.size() > 3 ? of(3, register) : 0));
            case "VIADD" -> OptionalInt.of(of(1, register) + of(2, register));
            case "IMAD" -> OptionalInt.of(of(1, register) * of(2, register) + of(3, register));
            case "LEA" -> OptionalInt.of((of(1, register) << of(3, register)) + of(2, register));
            case "LOP3" -> OptionalInt.of(logic(of(4, register), of(1, register), of(2, register), of(3, register)));
            case "SEL", "VIMNMX" -> OptionalInt.of(of(2, register));
            case "PRMT" -> OptionalInt.of(permuted(of(1, register), of(2, register), of(3, register)));
            case "SHF" -> base.startsWith("SHF.L.U32") && isZero(3) ? OptionalInt.of(shifted(of(1, register), of(2, register))) : OptionalInt.empty();
            case "LDC" -> operands.get(1).equals("c[0x0][0x28]") ? OptionalInt.of(register.applyAsInt("stack")) : OptionalInt.empty();
            default -> OptionalInt.empty();
        };
    }

    private boolean isZero(int operand) {
        return operands.get(operand).equals("RZ") || operands.get(operand).equals("URZ");
    }

    private static int shifted(int value, int count) {
        return count < 0 || count >= Integer.SIZE ? 0 : value << count;
    }

    private static int logic(int table, int one, int two, int three) {
        int result = 0;
        for (int bit = 0; bit < Integer.SIZE; bit++) {
            int input = (one >>> bit & 1) << 2 | (two >>> bit & 1) << 1 | three >>> bit & 1;
            result |= (table >>> input & 1) << bit;
        }
        return result;
    }

    private static int permuted(int one, int selector, int three) {
        long bytes = Integer.toUnsignedLong(one) | (long) three << Integer.SIZE;
        int result = 0;
        for (int i = 0; i < Integer.BYTES; i++) {
            int nibble = selector >>> 4 * i & 0xf;
            int value = (int) (bytes >>> 8 * (nibble & 7)) & 0xff;
            result |= (nibble < 8 ? value : value >= 0x80 ? 0xff : 0) << 8 * i;
        }
        return result;
    }

    private int of(int operand, ToIntFunction<String> register) {
        String text = operands.get(operand);
        boolean negative = text.startsWith("-");
        boolean inverted = text.startsWith("~");
        String plain = negative || inverted ? text.substring(1) : text;
        int value = plain.startsWith("0x") ? (int) Long.parseLong(plain.substring(2), 16) : isZero(plain) ? 0 : register.applyAsInt(plain);
        return negative ? -value : inverted ? ~value : value;
    }

    private static boolean isZero(String register) {
        return register.equals("RZ") || register.equals("URZ");
    }

    /** Returns whether it is an access whose address is understood. */
    boolean isAccess() {
        return ACCESS.matcher(name).matches();
    }

    /** Its addresses that have to be aligned, each as {@code REGISTER UNIFORM NUMBER WIDTH} with the number modulo 256. */
    List<String> addresses() {
        int width = width();
        List<String> found = new ArrayList<>();
        Matcher address = ADDRESS.matcher(DESCRIPTOR.matcher(String.join(",", operands)).replaceAll(""));
        while (width > 1 && address.find()) {
            int register = 255;
            int uniform = 63;
            int number = 0;
            for (String part : address.group(1).split("\\+")) {
                String plain = part.replaceAll("\\.(64|U32)", "");
                if (plain.startsWith("UR")) {
                    uniform = plain.equals("URZ") ? uniform : Integer.parseInt(plain.substring(2));
                } else if (plain.startsWith("R")) {
                    register = plain.equals("RZ") ? register : Integer.parseInt(plain.substring(1));
                } else {
                    number = (plain.startsWith("-") ? -1 : 1) * (int) Long.parseLong(plain.replace("-", "").substring(2), 16);
                }
            }
            found.add(register + " " + uniform + " " + (number & 0xff) + " " + width);
        }
        return found.stream().sorted().toList();
    }

    private int width() {
        if (name.startsWith("LDSM") || name.startsWith("STSM")) {
            return 16;
        }
        if (name.startsWith("SYNCS") || name.matches(".*\\.(64|S64|F64|F32x2|B?F16x4)(\\..*)?")) {
            return 8;
        }
        if (name.matches(".*\\.(128|F32x4|B?F16x8)(\\..*)?")) {
            return 16;
        }
        return name.matches(".*\\.[US]8(\\..*)?") ? 1 : name.matches(".*\\.[US]16(\\..*)?") ? 2 : 4;
    }
}
