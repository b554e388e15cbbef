package io.tessera.guardian.verify.flow;

import io.tessera.guardian.ptx.CallPrototype;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Location;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.TargetList;
import io.tessera.guardian.ptx.Variable;
import io.tessera.guardian.ptx.parse.SpecialRegisters;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The text of a function: its instructions, and what each name in it stands for. A name that hides another one, or that of a special register, is
 * refused, because two readers of the text could understand it in two ways. Used by one thread.
 */
public final class Body {
    /** Instructions of one function, at most. */
    private static final int MOST_INSTRUCTIONS = 2_000_000;
    /** Maximum bytes of local memory of one function: as much as a thread can have. */
    private static final long MOST_LOCAL = 512 << 10;
    private static final int MOST_DIGITS = 9;

    /** The function as it was read. */
    public final PtxFunction function;
    /** Its instructions, in order. */
    public final List<Instruction> code = new ArrayList<>();
    final Map<String, Integer> labels = new HashMap<>();
    final Map<String, List<String>> tables = new HashMap<>();
    final Map<String, Symbol> symbols = new HashMap<>();
    final List<Symbol> locals = new ArrayList<>();
    private final ModuleNames module;
    private final Map<String, RegisterDeclaration> rows = new HashMap<>();
    private final Map<String, Integer> single = new HashMap<>();
    private final Map<String, Integer> ids = new HashMap<>();
    private final Set<Integer> given = new HashSet<>();
    private final Set<String> parameters = new HashSet<>();
    private int[] widths = new int[64];
    private long local;

    /** Reads a function that has a body. */
    public Body(PtxFunction function, ModuleNames module) throws UnverifiedException {
        this.function = function;
        this.module = module;
        for (Variable parameter : function.parameters()) {
            parameter(parameter, false);
            parameters.add(parameter.name());
        }
        for (Variable result : function.returns()) {
            parameter(result, true);
        }
        read(function.body().orElseThrow().statements());
    }

    private void parameter(Variable parameter, boolean result) throws UnverifiedException {
        if (parameter.space() == StateSpace.REG) {
            if (parameter.vectorLength() != 1 || isTaken(parameter.name()) || single.putIfAbsent(parameter.name(), parameter.type().bits()) != null) {
                throw new UnverifiedException(function.line(), "'" + parameter.name() + "' is no register of its own");
            }
        } else {
            declare(parameter, result, true);
        }
    }

    private void read(List<Statement> statements) throws UnverifiedException {
        for (Statement statement : statements) {
            switch (statement) {
                case Instruction instruction -> {
                    if (code.size() >= MOST_INSTRUCTIONS) {
                        throw new UnverifiedException(instruction.line(), "a function of too many instructions");
                    }
                    code.add(instruction);
                }
                case Label label -> {
                    if (isTaken(label.name()) || labels.putIfAbsent(label.name(), code.size()) != null) {
                        throw new UnverifiedException(label.line(), "label '" + label.name() + "' is no name of its own");
                    }
                }
                case RegisterDeclaration registers -> registers(registers);
                case Variable variable -> declare(variable, true, false);
                case TargetList list -> {
                    if (tables.putIfAbsent(list.name(), list.targets()) != null) {
                        throw new UnverifiedException(list.line(), "'" + list.name() + "' is no name of its own");
                    }
                }
                case Pragma pragma -> module.pragma(pragma);
                case CallPrototype _,Location _ -> {}
            }
        }
    }

    private boolean isTaken(String name) {
        return module.names(name) || symbols.containsKey(name) || SpecialRegisters.contains(name);
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
        if (isTaken(variable.name()) || symbols.putIfAbsent(variable.name(), symbol) != null) {
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

    private void registers(RegisterDeclaration declaration) throws UnverifiedException {
        String prefix = declaration.prefix();
        if (prefix.isEmpty() || Character.isDigit(prefix.charAt(prefix.length() - 1)) || rows.putIfAbsent(prefix, declaration) != null) {
            throw new UnverifiedException(declaration.line(), "'" + prefix + "' is no row of registers of its own");
        }
    }

    /** Number of a register, from 0. */
    public int register(String name, int line) throws UnverifiedException {
        Integer known = ids.get(name);
        if (known != null) {
            return known;
        }
        int digits = name.length();
        while (digits > 0 && name.charAt(digits - 1) >= '0' && name.charAt(digits - 1) <= '9') {
            digits--;
        }
        Integer alone = single.get(name);
        RegisterDeclaration row = alone != null || name.length() - digits > MOST_DIGITS || digits == name.length() ? null
                : rows.get(name.substring(0, digits));
        boolean plain = row != null && (name.charAt(digits) != '0' || name.length() == digits + 1)
                && Integer.parseInt(name, digits, name.length(), 10) < row.count();
        if (alone == null && !plain || SpecialRegisters.contains(name)) {
            throw new UnverifiedException(line, "register '" + name + "' is not declared once");
        }
        int id = ids.size();
        ids.put(name, id);
        if (alone != null && parameters.contains(name)) {
            given.add(id);
        }
        if (id == widths.length) {
            widths = Arrays.copyOf(widths, 2 * id);
        }
        widths[id] = alone != null ? alone : row.type().bits();
        return id;
    }

    /** Returns the number of registers. */
    public int registers() {
        return ids.size();
    }

    /** Bits of a register. */
    public int bits(int register) {
        return widths[register];
    }

    /** Returns whether a register is a parameter that callers fill. */
    public boolean isParameter(int register) {
        return given.contains(register);
    }

    /** Returns whether blocks may be launched in clusters. */
    public boolean isClustered() {
        return module.isClustered();
    }

    /** A variable of the function or the module, or null. */
    public Symbol symbol(String name) {
        Symbol own = symbols.get(name);
        return own != null ? own : module.symbol(name);
    }
}
