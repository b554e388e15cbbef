package io.tessera.guardian.fence.text;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Modifiers;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The new body of one function while it is written, with the registers that the rewriter adds. Not thread-safe. */
public final class Code {
    private static final Map<String, Mnemonic> MNEMONICS = new ConcurrentHashMap<>();

    /** An opcode with its modifiers. */
    private record Mnemonic(String opcode, Modifiers modifiers) {
        private static Mnemonic of(String text) {
            int dot = text.indexOf('.');
            return dot < 0 ? new Mnemonic(text, Modifiers.of(List.of()))
                    : new Mnemonic(text.substring(0, dot), Modifiers.of(List.of(text.substring(dot + 1).split("\\."))));
        }
    }

    private final String prefix;
    private List<Statement> statements = new ArrayList<>();
    private int line;
    private int wides;
    private int words;
    private int truths;
    private int labels;

    /** Code whose names no program can have. */
    public Code() {
        this(WindowConstants.PREFIX);
    }

    /**
     * Code that is itself to be fenced.
     *
     * @param prefix of names of registers and labels: one that the function does not use
     */
    public Code(String prefix) {
        this.prefix = prefix;
    }

    /** Says which line of the program the instructions from now on stand for; 0 for none. */
    public void line(int number) {
        line = number;
    }

    /** Takes a statement as it is. */
    public void add(Statement statement) {
        statements.add(statement);
    }

    /** Starts a nested list of statements, and returns the current list for {@link #leave}. */
    public List<Statement> enter() {
        List<Statement> outer = statements;
        statements = new ArrayList<>();
        return outer;
    }

    /** Ends a nested list, goes on with the outer one, and gives what was written in between. */
    public List<Statement> leave(List<Statement> outer) {
        List<Statement> inner = statements;
        statements = outer;
        return inner;
    }

    /** Writes an instruction. */
    public void emit(String mnemonic, Operand... operands) {
        emit(Optional.empty(), mnemonic, operands);
    }

    /** Writes an instruction under a guard. */
    public void emit(Optional<Guard> guard, String mnemonic, Operand... operands) {
        Mnemonic known = MNEMONICS.computeIfAbsent(mnemonic, Mnemonic::of);
        statements.add(new Instruction(guard, known.opcode(), known.modifiers(), List.of(operands), line));
    }

    /** Writes {@code @p bra label}. */
    public void branch(Operand.Register predicate, boolean negated, String label) {
        emit(Optional.of(new Guard(predicate, negated)), "bra", new Operand.Symbol(label, 0));
    }

    /** Writes a label. */
    public void label(String name) {
        statements.add(new Label(name, 0));
    }

    /** A name for a label. */
    public String newLabel(String what) {
        return prefix + what + "_" + labels++;
    }

    /** A register of 64 bits. */
    public Operand.Register wide() {
        return new Operand.Register("%" + prefix + "d" + wides++);
    }

    /** A register of 32 bits. */
    public Operand.Register word() {
        return new Operand.Register("%" + prefix + "r" + words++);
    }

    /** A predicate. */
    public Operand.Register truth() {
        return new Operand.Register("%" + prefix + "p" + truths++);
    }

    /** An integer. */
    public static Operand.Immediate number(long value) {
        return new Operand.Immediate(value, false);
    }

    /** A memory operand. */
    public static Operand.Address at(Operand.Base base, long offset) {
        return new Operand.Address(base, offset);
    }

    /** <code>{low, high}</code>. */
    public static Operand.Vector pair(Operand low, Operand high) {
        return new Operand.Vector(List.of(low, high));
    }

    /** Declarations of all registers that were given out. */
    public List<Statement> declarations() {
        List<Statement> found = new ArrayList<>(3);
        declare(found, ScalarType.B64, "%" + prefix + "d", wides);
        declare(found, ScalarType.B32, "%" + prefix + "r", words);
        declare(found, ScalarType.PRED, "%" + prefix + "p", truths);
        return found;
    }

    private static void declare(List<Statement> into, ScalarType type, String prefix, int count) {
        if (count > 0) {
            into.add(new RegisterDeclaration(type, prefix, count, 0));
        }
    }
}
