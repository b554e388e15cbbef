package io.tessera.guardian.verify.instruction;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.verify.ModuleNames;
import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.flow.FlowEdge;
import io.tessera.guardian.verify.flow.Form;
import io.tessera.guardian.verify.graph.Graph;
import io.tessera.guardian.verify.value.Given;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.PrintedFormat;
import io.tessera.guardian.verify.value.Selection;
import io.tessera.guardian.verify.value.Value;
import java.util.List;

/** Calls: of functions of the module that are known by name, and of {@code vprintf} with what is private. Used for one function. */
public final class Calls {
    private static final int MOST_BACK = 4096;

    private final ModuleNames module;
    private final Graph graph;
    private final Given given;

    /** Creates the checks of one function of a module. */
    public Calls(Graph graph, ModuleNames module, Given given) {
        this.module = module;
        this.graph = graph;
        this.given = given;
    }

    private static UnverifiedException refused(Instruction i, String why) {
        return new UnverifiedException(i.line(), i.mnemonic() + ": " + why);
    }

    void check(Instruction i, int at, int block) throws UnverifiedException {
        List<Operand> operands = i.operands();
        int next = 0;
        List<Operand> returned = List.of();
        if (operands.size() > 1 && operands.getFirst() instanceof Operand.Arguments(List<Operand> elements)) {
            returned = elements;
            next++;
        }
        if (!(operands.get(next) instanceof Operand.Symbol(String name, long offset)) || offset != 0) {
            throw refused(i, "what it calls is not known by name");
        }
        next++;
        List<Operand> passed = List.of();
        if (next < operands.size() && operands.get(next) instanceof Operand.Arguments(List<Operand> elements)) {
            passed = elements;
            next++;
        }
        PtxFunction function = module.function(name);
        if (function == null || function.kind() != PtxFunction.Kind.FUNC || next != operands.size()) {
            throw refused(i, "'" + name + "' is no function that can be called");
        }
        if (returned.size() != function.returns().size() || passed.size() != function.parameters().size()) {
            throw refused(i, "'" + name + "' is called with other arguments than it has");
        }
        if (function.body().isPresent()) {
            pass(function, passed, graph.operands[at][next - 1]);
        } else if (name.equals("vprintf")) {
            print(i, at, block, passed);
        } else if (!module.linked() || isDrivers(name)) {
            throw refused(i, "'" + name + "' is defined in no fenced module");
        } else if (function.attribute("noreturn").isPresent()) {
            // The assembler puts a branch to itself behind the call, which a function of another module would come back to.
            throw refused(i, "nothing shows that '" + name + "' of another module does not return");
        }
    }

    /** Records the arguments that are passed in registers; the values of those that are numbers or in registers are in the same order. */
    private void pass(PtxFunction function, List<Operand> passed, Node[] values) {
        boolean each = values.length == passed.size();
        for (int n = 0; n < passed.size(); n++) {
            boolean register = each && passed.get(n) instanceof Operand.Register && values[n].bits == Long.SIZE;
            given.pass(function, n, register ? values[n].value : null);
        }
    }

    private static boolean isDrivers(String name) {
        return name.equals("malloc") || name.equals("free") || name.startsWith("__assert") || name.startsWith("cuda") || name.startsWith("__cuda")
                || name.startsWith("cnp") || name.startsWith("__cnp");
    }

    private void print(Instruction call, int at, int block, List<Operand> given) throws UnverifiedException {
        Value text = passed(call, at, block, given.get(0));
        Value frame = passed(call, at, block, given.get(1));
        boolean whole = text.is(Value.Kind.TEXT) && text.symbol() != null && text.low() == 0 && text.high() == 0;
        PrintedFormat format = whole ? PrintedFormat.of(module.texts.get(text.symbol().name())) : null;
        if (format == null) {
            throw refused(call, "what it prints is no private text");
        }
        if (format.bytes() == 0) {
            return;
        }
        boolean own = frame.is(Value.Kind.GENERIC) && frame.symbol().space() == StateSpace.LOCAL && frame.low() == frame.high() && frame.low() >= 0
                && frame.low() + format.bytes() <= frame.symbol().bytes()
                && Math.min(frame.symbol().align(), Value.tz(frame.low())) >= format.align();
        if (!own) {
            throw refused(call, "what it prints is not in the function's own frame");
        }
        for (long slot : format.strings()) {
            string(call, at, block, frame.symbol(), frame.low() + slot);
        }
    }

    /** The place right before another, where that is the only way to it; below 0 where it is not. */
    private int[] before(int at, int block) {
        int position = at - 1;
        int here = block;
        while (position < graph.flow.start[here]) {
            List<FlowEdge> in = graph.flow.in.get(here);
            if (in.size() != 1 || here == 0) {
                return null;
            }
            here = in.getFirst().from();
            position = graph.flow.end[here] - 1;
        }
        return new int[] {position, here};
    }

    /** Returns the last value stored into an argument. */
    private Value passed(Instruction call, int at, int block, Operand argument) throws UnverifiedException {
        int[] place = before(at, block);
        for (int left = MOST_BACK; place != null && left > 0; left--) {
            graph.work.spend(1);
            Instruction i = graph.body.code.get(place[0]);
            if (i.opcode().equals("st") && i.operands().getFirst() instanceof Operand.Address(Operand.Named(String name), long offset)
                    && argument instanceof Operand.Symbol(String wanted, long _) && name.equals(wanted)) {
                if (offset != 0 || i.guard().isPresent() || !i.mnemonic().equals("st.param.b64")) {
                    break;
                }
                return graph.operands[place[0]][1][0].value;
            }
            place = before(place[0], place[1]);
        }
        throw refused(call, "what it is given is not known");
    }

    /** A pointer in the frame was made one to a private text, and nothing can have changed it since. */
    private void string(Instruction call, int at, int block, Symbol frame, long slot) throws UnverifiedException {
        int[] place = before(at, block);
        for (int left = MOST_BACK; place != null && left > 0; left--) {
            graph.work.spend(1);
            Instruction i = graph.body.code.get(place[0]);
            Form form = graph.forms[place[0]];
            boolean local = i.space().filter(space -> space == StateSpace.LOCAL).isPresent();
            boolean other = i.space().isPresent() && !local;
            if (form == Form.STORE && local) {
                Value where = graph.operands[place[0]][0][0].value;
                long offset = ((Operand.Address) i.operands().getFirst()).offsetBytes() + where.low();
                boolean exact = where.is(Value.Kind.VARIABLE) && where.low() == where.high();
                int bytes = i.type().map(type -> type.bytes()).orElse(0) * i.vectorLength();
                if (exact && where.symbol() == frame && offset == slot && bytes == Long.BYTES) {
                    Value value = graph.operands[place[0]][1][0].value;
                    boolean same = i.guard().isEmpty() || i.guard().equals(call.guard());
                    if (same && value.is(Value.Kind.TEXT) && Selection.inText(value)) {
                        return;
                    }
                    break;
                }
                if (!exact || where.symbol() == frame && offset < slot + Long.BYTES && offset + bytes > slot) {
                    break;
                }
            } else if (form == Form.CALL || (form == Form.STORE || form == Form.ATOM || form == Form.RED || form == Form.WMMA) && !other) {
                break;
            }
            place = before(place[0], place[1]);
        }
        throw refused(call, "a string that it prints is not known to be private");
    }
}
