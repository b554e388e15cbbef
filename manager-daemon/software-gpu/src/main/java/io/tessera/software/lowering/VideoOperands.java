package io.tessera.software.lowering;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand.Component;
import io.tessera.guardian.ptx.Operand.Minus;
import io.tessera.software.arithmetic.LaneArithmetic;
import io.tessera.software.arithmetic.VideoArithmetic;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import io.tessera.software.program.VideoSigns;
import java.util.ArrayList;
import java.util.List;

/** Operands of a video instruction: registers, and their selectors and signs as constants. Used once. */
final class VideoOperands {
    private static final VideoArithmetic.Part WHOLE = new VideoArithmetic.Part(0, 32);

    private final FunctionBody function;
    private final OperandLowering operands;
    private final Instruction written;
    private final int lanes;
    private final List<LoweredOperand> results = new ArrayList<>();
    private final List<LoweredOperand> arguments = new ArrayList<>();

    VideoOperands(FunctionBody function, OperandLowering operands, Opcode opcode, Instruction written) {
        this.function = function;
        this.operands = operands;
        this.written = written;
        this.lanes = opcode.videoLanes();
        List<io.tessera.guardian.ptx.Operand> all = written.operands();
        if (all.size() < 3 || all.size() > 4) {
            throw function.unsupported(written.mnemonic(), written.line());
        }
        operands.add(plain(all.get(0)), ValueType.B32, results);
        for (int i = 1; i < all.size(); i++) {
            operands.add(plain(all.get(i)), ValueType.B32, arguments);
        }
        boolean third = all.size() > 3;
        if (!third) {
            arguments.add(new LoweredOperand.Immediate(0));
        }
        LaneArithmetic.Selection every = lanes == 1 ? null : LaneArithmetic.Selection.all(32 / lanes);
        arguments.add(selector(all.get(1), every == null ? 0 : every.a()));
        arguments.add(selector(all.get(2), every == null ? 0 : every.b()));
        arguments.add(lanes == 1 ? selector(all.get(0), 0) : mask(all.get(0), every.mask()));
        boolean product = all.get(1) instanceof Minus ^ all.get(2) instanceof Minus;
        arguments.add(new LoweredOperand.Immediate((product ? VideoSigns.PRODUCT : 0) | (third ? VideoSigns.THIRD : 0)
                | (third && all.get(3) instanceof Minus ? VideoSigns.ADDEND : 0)));
    }

    List<LoweredOperand> results() {
        return results;
    }

    List<LoweredOperand> arguments() {
        return arguments;
    }

    /** Returns the operand without sign and selector. */
    private static io.tessera.guardian.ptx.Operand plain(io.tessera.guardian.ptx.Operand operand) {
        return switch (operand) {
            case Minus minus -> plain(minus.operand());
            case Component component -> new io.tessera.guardian.ptx.Operand.Register(component.name());
            default -> operand;
        };
    }

    /** Returns the text after an operand's dot, or null. */
    private static String word(io.tessera.guardian.ptx.Operand operand) {
        return switch (operand) {
            case Minus minus -> word(minus.operand());
            case Component component -> component.component();
            default -> null;
        };
    }

    /** A part of a scalar, or which lanes come in which order, the highest first. */
    private LoweredOperand selector(io.tessera.guardian.ptx.Operand operand, int otherwise) {
        String word = word(operand);
        if (lanes == 1) {
            return new LoweredOperand.Immediate((word == null ? WHOLE : part(word)).code());
        }
        if (word == null) {
            return new LoweredOperand.Immediate(otherwise);
        }
        int order = 0;
        for (int digit : digits(word, 2 * lanes)) {
            order = order << 4 | digit;
        }
        if (word.length() != lanes + 1) {
            throw function.unsupported("selector ." + word, written.line());
        }
        return new LoweredOperand.Immediate(order);
    }

    private VideoArithmetic.Part part(String word) {
        boolean bytes = word.startsWith("b");
        int bits = bytes ? 8 : 16;
        int[] digits = digits(word, 32 / bits);
        if (digits.length != 1) {
            throw function.unsupported("selector ." + word, written.line());
        }
        return new VideoArithmetic.Part(digits[0] * bits, bits);
    }

    private LoweredOperand mask(io.tessera.guardian.ptx.Operand operand, int otherwise) {
        String word = word(operand);
        if (word == null) {
            return new LoweredOperand.Immediate(otherwise);
        }
        int mask = 0;
        for (int digit : digits(word, lanes)) {
            mask |= 1 << digit;
        }
        return new LoweredOperand.Immediate(mask);
    }

    /** Returns the digits after the letter, which determines the width of a lane. */
    private int[] digits(String word, int end) {
        boolean letter = word.startsWith("h") && lanes != 4 || word.startsWith("b") && lanes != 2;
        int[] digits = word.substring(1).chars().map(c -> c - '0').toArray();
        for (int digit : digits) {
            letter &= digit >= 0 && digit < end;
        }
        if (!letter || digits.length == 0) {
            throw function.unsupported("selector ." + word, written.line());
        }
        return digits;
    }
}
