package io.tessera.guardian.verify;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.CallPrototype;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Location;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.SpecialRegisters;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The text of a function, flat: its instructions, and what every name in it is. A register declared in a nested block, a name that hides another,
 * and one of a special register are not accepted: then two readers of the text could take it for two things. Used by one thread.
 */
final class Body {
    /** Instructions of one function, at most. */
    private static final int MOST_INSTRUCTIONS = 2_000_000;
    /** Bytes of local memory of one function: what a thread can have. */
    private static final long MOST_LOCAL = 512 << 10;

    final PtxFunction function;
    final List<Instruction> code = new ArrayList<>();
    final Map<String, Integer> labels = new HashMap<>();
    final Map<String, List<String>> tables = new HashMap<>();
    final Map<String, Symbol> symbols = new HashMap<>();
    final List<Symbol> locals = new ArrayList<>();
    private final ModuleNames module;
    private final Map<String, Integer> rows = new HashMap<>();
    private final Map<String, Integer> single = new HashMap<>();
    private final Map<String, Integer> ids = new HashMap<>();
    private int[] widths = new int[64];
    private long local;

    Body(PtxFunction function, ModuleNames module) throws UnverifiedException {
        this.function = function;
        this.module = module;
        for (Variable parameter : function.parameters()) {
            parameter(parameter, false);
        }
        for (Variable result : function.returns()) {
            parameter(result, true);
        }
        read(function.body().orElseThrow().statements(), false);
    }

    private void parameter(Variable parameter, boolean result) throws UnverifiedException {
        if (parameter.space() == StateSpace.REG) {
            register(parameter.name(), parameter.type().bits(), parameter.vectorLength(), function.line());
        } else {
            declare(parameter, result, true);
        }
    }

    private void read(List<Statement> statements, boolean nested) throws UnverifiedException {
        List<String> own = new ArrayList<>(0);
        for (Statement statement : statements) {
            switch (statement) {
                case Instruction instruction -> {
                    if (code.size() >= MOST_INSTRUCTIONS) {
                        throw new UnverifiedException(instruction.line(), "a function of too many instructions");
                    }
                    code.add(instruction);
                }
                case Label label -> {
                    if (labels.putIfAbsent(label.name(), code.size()) != null || module.names(label.name())) {
                        throw new UnverifiedException(label.line(), "label '" + label.name() + "' is no name of its own");
                    }
                }
                case RegisterDeclaration registers -> registers(registers, nested);
                case Variable variable -> {
                    if (nested && variable.space() != StateSpace.PARAM) {
                        throw new UnverifiedException(variable.line(), "'" + variable.name() + "' is declared in a nested block");
                    }
                    declare(variable, true, false);
                    own.add(variable.name());
                }
                case Block block -> {
                    if (nested) {
                        throw new UnverifiedException(block.line(), "a block in a block");
                    }
                    read(block.statements(), true);
                }
                case TargetList list -> tables.put(list.name(), list.targets());
                case Pragma pragma -> module.pragma(pragma);
                case CallPrototype _, Location _ -> { }
            }
        }
        if (nested) {
            own.forEach(symbols::remove);
        }
    }

    private void declare(Variable variable, boolean written, boolean head) throws UnverifiedException {
        boolean space = switch (variable.space()) {
            case LOCAL, SHARED -> !head;
            case PARAM -> true;
            default -> false;
        };
        if (!space || variable.initializer().isPresent() || variable.linkage() != Linkage.INTERNAL) {
            throw new UnverifiedException(variable.line(), "'" + variable.name() + "' is no variable that a function may have");
        }
        Symbol symbol = Symbol.of(variable, written && variable.space() == StateSpace.PARAM, module.bytes(variable));
        if (module.names(variable.name()) || SpecialRegisters.contains(variable.name()) || symbols.putIfAbsent(variable.name(), symbol) != null) {
            throw new UnverifiedException(variable.line(), "'" + variable.name() + "' hides another name");
        }
        if (variable.space() == StateSpace.LOCAL) {
            locals.add(symbol);
            local += symbol.bytes() + variable.alignment();
            if (local > MOST_LOCAL) {
                throw new UnverifiedException(variable.line(), "more local memory than a thread can have");
            }
        }
    }

    private void registers(RegisterDeclaration declaration, boolean nested) throws UnverifiedException {
        if (nested) {
            throw new UnverifiedException(declaration.line(), "registers are declared in a nested block");
        }
        for (RegisterDeclaration.Names names : declaration.names()) {
            if (names.count() == RegisterDeclaration.Names.SINGLE) {
                register(names.name(), declaration.type().bits(), declaration.vectorLength(), declaration.line());
            } else if (declaration.vectorLength() != 1 || rows.putIfAbsent(names.name(), declaration.type().bits()) != null
                    || Character.isDigit(names.name().charAt(names.name().length() - 1))) {
                throw new UnverifiedException(declaration.line(), "'" + names.name() + "' is no row of registers of its own");
            }
        }
    }

    private void register(String name, int bits, int vector, int line) throws UnverifiedException {
        if (vector != 1 || SpecialRegisters.contains(name) || module.names(name) || symbols.containsKey(name) || single.putIfAbsent(name, bits) != null) {
            throw new UnverifiedException(line, "'" + name + "' is no register of its own");
        }
    }

    /** Number of a register, from 0. */
    int register(String name, int line) throws UnverifiedException {
        Integer known = ids.get(name);
        if (known != null) {
            return known;
        }
        int digits = name.length();
        while (digits > 0 && Character.isDigit(name.charAt(digits - 1))) {
            digits--;
        }
        Integer alone = single.get(name);
        Integer row = rows.get(name.substring(0, digits));
        if (alone == null && row == null || alone != null && row != null || SpecialRegisters.contains(name)) {
            throw new UnverifiedException(line, "register '" + name + "' is not declared once");
        }
        int id = ids.size();
        ids.put(name, id);
        if (id == widths.length) {
            widths = java.util.Arrays.copyOf(widths, 2 * id);
        }
        widths[id] = alone != null ? alone : row;
        return id;
    }

    int registers() {
        return ids.size();
    }

    /** Bits of a register. */
    int bits(int register) {
        return widths[register];
    }

    /** A variable of the function or the module, or null. */
    Symbol symbol(String name) {
        Symbol own = symbols.get(name);
        return own != null ? own : module.symbol(name);
    }
}
