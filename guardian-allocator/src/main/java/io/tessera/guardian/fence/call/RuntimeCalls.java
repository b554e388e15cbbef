package io.tessera.guardian.fence.call;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.instruction.CallSite;
import io.tessera.guardian.fence.text.FunctionNames;
import io.tessera.guardian.fence.variable.InitialBytes;
import io.tessera.guardian.fence.variable.ModuleSymbols;
import io.tessera.guardian.fence.variable.SymbolTrace;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The calls of a module's functions to what the driver provides: {@code vprintf}, whose two pointers are made again, from a private copy of
 * the format and the function's own frame, with private copies of strings; {@code __assertfail}, which becomes a record. Not thread-safe.
 */
public final class RuntimeCalls {
    /** Printed instead of a format that is not a constant text. */
    private static final String UNKNOWN_FORMAT = "(a format that is not known)\n";
    /** Printed instead of a string that is none of the module's constants. */
    private static final String UNKNOWN_STRING = "(string)";
    /** Strings that an argument is compared with, at most. */
    private static final int MOST_STRINGS = 32;
    /** How many statements before a call are searched for the stores of its arguments. */
    private static final int MOST_BEFORE = 1000;
    private static final String[] ASSERT_PARTS = {"message", "file", "line", "function"};

    /** The address that replaces the one that a store passes: that of the variable, plus an offset; or a null pointer. */
    public record Passed(String variable, boolean local, long offset) {
    }

    private final ModuleSymbols symbols;
    private final Map<Instruction, Passed> passed = new IdentityHashMap<>();
    private final Map<Instruction, Integer> asserts = new IdentityHashMap<>();
    private final Map<Instruction, Boolean> dropped = new IdentityHashMap<>();
    private final Map<Instruction, PrintedStrings> strings = new IdentityHashMap<>();
    private final List<Variable> formats = new ArrayList<>();
    private final Map<String, String> copies = new HashMap<>();
    private Block function;
    private List<PrintedStrings.Text> named;
    private final List<String> texts = new ArrayList<>();

    /** Creates the object for one module. */
    public RuntimeCalls(ModuleSymbols symbols) {
        this.symbols = symbols;
    }

    /** Formats that have to be added to the module. */
    public List<Variable> formats() {
        return formats;
    }

    /** Texts of assertions. */
    public List<String> texts() {
        return texts;
    }

    /** Returns the replacement of the address that a store passes, or null. */
    public Passed passed(Instruction store) {
        return passed.get(store);
    }

    /** Returns the strings that a call of {@code vprintf} prints, or null if its format has none. */
    public PrintedStrings printed(Instruction call) {
        return strings.get(call);
    }

    /** Number of the text of an assertion, or null. */
    public Integer assertion(Instruction call) {
        return asserts.get(call);
    }

    /** Returns whether a store is omitted together with its call. */
    public boolean drops(Instruction store) {
        return dropped.containsKey(store);
    }

    /** Finds the calls of a function. */
    public void scan(PtxFunction scanned, SymbolTrace trace, FunctionNames names) throws FenceRefusedException {
        this.function = scanned.body().orElseThrow();
        this.named = null;
        List<Statement> statements = function.statements();
        for (int i = 0; i < statements.size(); i++) {
            if (statements.get(i) instanceof Instruction call && call.opcode().equals("call")) {
                CallSite site = CallSite.of(call);
                PtxFunction target = site.function() == null ? null : symbols.function(site.function());
                if (target != null && target.body().isEmpty()) {
                    runtime(call, site, statements.subList(Math.max(0, i - MOST_BEFORE), i), trace, names);
                }
            }
        }
    }

    private void runtime(Instruction call, CallSite site, List<Statement> before, SymbolTrace trace,
            FunctionNames names) throws FenceRefusedException {
        if (site.function().equals("vprintf") && site.arguments().size() == 2) {
            print(call, stores(call, site, before), trace, names);
        } else if (site.function().equals("__assertfail") && site.arguments().size() >= ASSERT_PARTS.length) {
            assertion(call, stores(call, site, before), trace);
        }
    }

    /**
     * Returns the instructions that write the arguments, one each. No instruction between them and the call may write the arguments or skip the
     * writes.
     */
    private static List<Instruction> stores(Instruction call, CallSite site, List<Statement> before)
            throws FenceRefusedException {
        List<Instruction> found = new ArrayList<>();
        Set<String> arguments = new HashSet<>();
        int first = before.size();
        for (Operand argument : site.arguments()) {
            int at = argument instanceof Operand.Symbol(String name, long _) && arguments.add(name) ? store(before, name) : -1;
            if (at < 0) {
                throw new FenceRefusedException("call " + site.function(), call.line(), "its arguments are not understood");
            }
            found.add((Instruction) before.get(at));
            first = Math.min(first, at);
        }
        for (Statement statement : before.subList(first, before.size())) {
            boolean disturbs = switch (statement) {
                case Label _ -> true;
                case Instruction i -> !found.contains(i) && i.operands().stream()
                        .anyMatch(o -> o instanceof Operand.Address(Operand.Named(String name), long _) && arguments.contains(name));
                default -> false;
            };
            if (disturbs) {
                throw new FenceRefusedException("call " + site.function(), call.line(), "its arguments are not understood");
            }
        }
        return found;
    }

    private static int store(List<Statement> before, String parameter) {
        for (int i = before.size() - 1; i >= 0; i--) {
            if (before.get(i) instanceof Instruction store && store.opcode().equals("st") && store.has("param")
                    && store.guard().isEmpty()
                    && store.operands().getFirst().equals(new Operand.Address(new Operand.Named(parameter), 0))) {
                return i;
            }
        }
        return -1;
    }

    private void print(Instruction call, List<Instruction> stores, SymbolTrace trace, FunctionNames names)
            throws FenceRefusedException {
        String text = text(stores.get(0).operands().get(1), trace);
        PrintFormat format = text == null ? null : PrintFormat.of(text);
        Passed arguments = format == null ? null : format.bytes() == 0 ? new Passed(null, true, 0)
                : frame(stores.get(1).operands().get(1), format, trace, names);
        if (arguments == null) {
            // Better than no kernel: what is printed is wrong, and says so.
            passed.put(stores.get(0), new Passed(copy(text == null ? UNKNOWN_FORMAT : PrintFormat.literal(text)), false, 0));
            passed.put(stores.get(1), new Passed(null, true, 0));
            return;
        }
        passed.put(stores.get(0), new Passed(copy(text), false, 0));
        passed.put(stores.get(1), arguments);
        if (!format.strings().isEmpty()) {
            List<Long> slots = format.strings().stream().map(offset -> arguments.offset() + offset).toList();
            strings.put(call, new PrintedStrings(arguments.variable(), slots, constants(), copy(UNKNOWN_STRING)));
        }
    }

    /** Returns the function's own variable that holds the arguments, or null. */
    private static Passed frame(Operand pointer, PrintFormat format, SymbolTrace trace, FunctionNames names) {
        SymbolTrace.Root root = pointer instanceof Operand.Register register ? trace.root(register) : null;
        Variable variable = root == null ? null : names.variable(root.symbol());
        boolean inside = variable != null && variable.space() == StateSpace.LOCAL && root.exact()
                && root.offsetBytes() >= 0 && root.offsetBytes() + format.bytes() <= variable.sizeBytes()
                && variable.alignment() >= format.alignment() && root.offsetBytes() % format.alignment() == 0;
        return inside ? new Passed(root.symbol(), true, root.offsetBytes()) : null;
    }

    /** Private copies of the constant strings that a function names. */
    private List<PrintedStrings.Text> constants() throws FenceRefusedException {
        if (named != null) {
            return named;
        }
        Set<String> names = new LinkedHashSet<>();
        collect(function, names);
        List<PrintedStrings.Text> found = new ArrayList<>();
        for (String name : names) {
            Variable variable = symbols.variable(name);
            boolean string = variable != null && variable.space() == StateSpace.GLOBAL && variable.type().bytes() == 1
                    && variable.linkage() == Linkage.INTERNAL && variable.initializer().isPresent();
            if (string && found.size() < MOST_STRINGS) {
                InitialBytes initial = new InitialBytes(variable, symbols);
                initial.fill();
                if (initial.relocations().isEmpty()) {
                    byte[] bytes = initial.bytes();
                    // Zeros at the end are not among the bytes; the first of them is an empty string.
                    found.add(new PrintedStrings.Text(name, copy(new String(bytes, StandardCharsets.ISO_8859_1)),
                            Math.min(bytes.length + 1L, variable.sizeBytes())));
                }
            }
        }
        named = found;
        return found;
    }

    private static void collect(Block block, Set<String> names) {
        for (Statement statement : block.statements()) {
            if (statement instanceof Instruction i && i.opcode().equals("mov")
                    && i.operands().getLast() instanceof Operand.Symbol(String name, long _)) {
                names.add(name);
            }
        }
    }

    private String copy(String text) {
        String known = copies.get(text);
        if (known != null) {
            return known;
        }
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        List<Initializer> values = new ArrayList<>();
        for (byte value : bytes) {
            values.add(new Initializer.Integer(value & 0xFF));
        }
        values.add(new Initializer.Integer(0));
        String name = WindowConstants.PREFIX + "format_" + formats.size();
        formats.add(new Variable(Linkage.INTERNAL, StateSpace.GLOBAL, 1, ScalarType.B8, 1, name,
                List.of(bytes.length + 1L), Optional.of(new Initializer.Aggregate(values)),
                Optional.empty(), List.of(), 0));
        copies.put(text, name);
        return name;
    }

    /** The text that a pointer leads to, or null. */
    private String text(Operand pointer, SymbolTrace trace) throws FenceRefusedException {
        SymbolTrace.Root root = pointer instanceof Operand.Register register ? trace.root(register) : null;
        Variable variable = root == null || !root.exact() ? null : symbols.variable(root.symbol());
        if (variable == null || variable.type().bytes() != 1 || variable.initializer().isEmpty()) {
            return null;
        }
        InitialBytes initial = new InitialBytes(variable, symbols);
        initial.fill();
        byte[] bytes = initial.bytes();
        int start = (int) Math.max(0, Math.min(root.offsetBytes(), bytes.length));
        int end = start;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return root.offsetBytes() != start || !initial.relocations().isEmpty() ? null
                : new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
    }

    private void assertion(Instruction call, List<Instruction> stores, SymbolTrace trace) throws FenceRefusedException {
        String[] parts = new String[ASSERT_PARTS.length];
        for (int i = 0; i < parts.length; i++) {
            Operand value = stores.get(i).operands().get(1);
            Long number = trace.constant(value);
            String text = i == 2 ? number == null ? null : number.toString() : text(value, trace);
            parts[i] = text == null ? "?" : text;
        }
        stores.forEach(store -> dropped.put(store, true));
        asserts.put(call, texts.size());
        texts.add(parts[1] + ":" + parts[2] + ": " + parts[3] + ": " + parts[0]);
    }
}
