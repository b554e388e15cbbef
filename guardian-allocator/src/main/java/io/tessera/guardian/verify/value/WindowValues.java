package io.tessera.guardian.verify.value;

import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.value.Value.Kind;

/** Values that the words about the window make: what is here is the fence. Stateless. */
public final class WindowValues {
    private static final int ADDRESS_ALIGN = Integer.numberOfTrailingZeros(Verdict.ADDRESS_ALIGNMENT);
    private static final int REPORT_ALIGN = 6;

    private WindowValues() {
    }

    /** The value, or null where it is none of these. */
    public static Value of(Node node, Mode mode, ModuleNames module) {
        return switch (node.instruction.opcode()) {
            case "ld" -> loaded(node, module);
            case "and" -> mode != Mode.MODULO && node.is("and", "b32") && (node.args[0].value.is(Kind.EXTENT) || node.args[1].value.is(Kind.EXTENT))
                    ? Value.of(Kind.PART, 0, 0, 0) : null;
            case "or" -> node.is("or", "b32") ? or(node.args[0].value, node.args[1].value) : null;
            case "add" -> node.typed(Integer.SIZE) && node.instruction.modifiers().size() == 1 ? add(node, mode, module) : null;
            case "shr" -> Lanes.isWarp(node) ? Value.of(Kind.LANES, 0, 0, 0) : null;
            default -> null;
        };
    }

    private static Value or(Value a, Value b) {
        if (a.is(Kind.PART) && b.is(Kind.BASE) || a.is(Kind.BASE) && b.is(Kind.PART)) {
            return Value.of(Kind.INSIDE, 0, 0, 0);
        }
        return a.is(Kind.LANES) || b.is(Kind.LANES) ? Value.of(Kind.LANES, 0, 0, 0) : null;
    }

    private static Value add(Node node, Mode mode, ModuleNames module) {
        if (mode == Mode.MODULO && node.args[1].value.is(Kind.BASE) && WindowForms.isModulo(node.args[0])) {
            return Value.of(Kind.INSIDE, 0, 0, 0);
        }
        Value start = node.args[0].value;
        Node size = node.args[1].origin();
        if (module.reachesBlocks()) { // the last bytes are for what waits for the cluster
            size = size.is("sub", "u32") && size.numberOf(1, 0) == Verdict.CLUSTER_BYTES ? size.args[0].origin() : node;
        }
        boolean end = start.is(Kind.VARIABLE) && start.symbol().name().equals(Reserved.DYNAMIC) && start.low() == 0 && start.high() == 0
                && size.is("mov", "u32") && size.args[0].kind == Node.Kind.SPECIAL && size.args[0].special.equals("%dynamic_smem_size");
        return end ? Value.of(Kind.VARIABLE, Symbol.END, 0, 0, 0) : null;
    }

    private static Value loaded(Node node, ModuleNames module) {
        if (!(node.instruction.operands().size() == 2
                && node.instruction.operands().get(1) instanceof Operand.Address(Operand.Named(String name), long offset))
                || !node.is("ld", "const")) {
            return null;
        }
        if (module.isAddress(name)) {
            return offset == 0 && WindowForms.isWide(node) ? Value.of(Kind.WINDOW, 0, 0, ADDRESS_ALIGN) : null;
        }
        if (!name.equals(Reserved.WINDOW)) {
            return null;
        }
        if (WindowForms.isBase(node)) {
            return Value.of(Kind.BASE, 0, 0, 0);
        }
        if (WindowForms.isExtent(node)) {
            return Value.of(Kind.EXTENT, 0, 0, 0);
        }
        if (WindowForms.isPointer(node, Reserved.REPORT)) {
            return Value.of(Kind.REPORT, 0, 0, REPORT_ALIGN);
        }
        if (WindowForms.isPointer(node, Reserved.STOP)) {
            return Value.of(Kind.STOP, 0, 0, 2);
        }
        return WindowForms.isPointer(node, Reserved.HANDLES) ? Value.of(Kind.HANDLES, 0, 0, 2) : null;
    }
}
