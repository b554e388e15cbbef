package io.tessera.guardian.verify.flow;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Control flow of a function. A block extends to its first branch or to a label; a guarded exit does not end a block. Each table that several
 * branches use has a block of its own, so that time and memory grow only with the length of the text. Immutable.
 */
public final class Flow {
    /** Maximum number of edges of a function for each of its instructions: branch tables may have many entries. */
    private static final int MOST_EDGES = 4;

    /** The first instruction of each block. */
    public final int[] start;
    /** Index after the last instruction of each block. */
    public final int[] end;
    /** Edges that leave a block. */
    public final List<List<FlowEdge>> out = new ArrayList<>();
    /** Edges that enter a block. */
    public final List<List<FlowEdge>> in = new ArrayList<>();
    /** Blocks that can be reached, each before those it dominates. */
    public final int[] order;
    /** Dominance between blocks. */
    public final Dominance dominance;
    private final Body body;
    private final int[] traceOf;
    private final Map<String, Integer> tables = new LinkedHashMap<>();
    private int edges;

    /** Cuts a body into blocks. */
    public Flow(Body body) throws UnverifiedException {
        this.body = body;
        List<Instruction> code = body.code;
        boolean[] leads = new boolean[code.size() + 1];
        leads[0] = true;
        Set<String> led = new HashSet<>();
        for (int at = 0; at < code.size(); at++) {
            List<String> targets = targets(code.get(at));
            boolean known = code.get(at).opcode().equals("brx") && !led.add(((Operand.Symbol) code.get(at).operands().getLast()).name());
            for (String target : known ? List.<String>of() : targets) {
                leads[place(code.get(at), target)] = true;
            }
            leads[at + 1] |= !targets.isEmpty();
        }
        int count = 0;
        traceOf = new int[code.size() + 1];
        for (int i = 0; i <= code.size(); i++) {
            count += leads[i] && (i < code.size() || i == 0) ? 1 : 0;
            traceOf[i] = count - 1;
        }
        int blocks = count;
        for (String table : shared()) {
            tables.put(table, count++);
        }
        start = new int[count];
        end = new int[count];
        Arrays.fill(start, blocks, count, code.size());
        Arrays.fill(end, blocks, count, code.size());
        for (int i = code.size() - 1; i >= 0; i--) {
            if (leads[i]) {
                start[traceOf[i]] = i;
            }
        }
        for (int t = 0; t < count; t++) {
            out.add(new ArrayList<>(2));
            in.add(new ArrayList<>(2));
        }
        for (int t = 0; t < blocks; t++) {
            trace(t, t + 1 < blocks ? start[t + 1] : code.size());
        }
        for (Map.Entry<String, Integer> table : tables.entrySet()) {
            for (String target : body.tables.get(table.getKey())) {
                edge(new FlowEdge(table.getValue(), -1, traceOf[body.labels.get(target)], true));
            }
        }
        order = reachable();
        dominance = new Dominance(out, in, order);
    }

    /** Returns the tables that several branches use: each has a block of its own, without instructions, for all their edges. */
    private Set<String> shared() throws UnverifiedException {
        Set<String> once = new HashSet<>();
        Set<String> again = new LinkedHashSet<>();
        for (Instruction i : body.code) {
            if (i.opcode().equals("brx") && i.operands().getLast() instanceof Operand.Symbol(String name, long _) && !once.add(name)
                    && again.add(name)) {
                for (String target : targets(i)) {
                    traceAt(i, target); // checked here, once
                }
            }
        }
        return again;
    }

    private void trace(int t, int limit) throws UnverifiedException {
        int decides = -1;
        for (int i = start[t]; i < limit; i++) {
            Instruction instruction = body.code.get(i);
            boolean branches = instruction.opcode().startsWith("br");
            boolean guarded = instruction.guard().isPresent();
            Integer table = branches && instruction.operands().getLast() instanceof Operand.Symbol(String name, long _) ? tables.get(name) : null;
            if (table != null) {
                edge(new FlowEdge(t, guarded ? i : -1, table, true));
            }
            for (String target : table != null ? List.<String>of() : targets(instruction)) {
                edge(new FlowEdge(t, guarded ? i : -1, traceAt(instruction, target), true));
            }
            if ((branches || instruction.opcode().equals("ret") || instruction.opcode().equals("exit")) && !guarded) {
                end[t] = i + 1;
                return;
            }
            decides = branches ? i : -1;
        }
        end[t] = limit;
        if (limit < body.code.size()) {
            edge(new FlowEdge(t, decides, traceOf[limit], false));
        }
    }

    private void edge(FlowEdge edge) throws UnverifiedException {
        if (++edges > MOST_EDGES * body.code.size() + 1024) {
            throw new UnverifiedException(body.function.line(), "more branches than instructions");
        }
        out.get(edge.from()).add(edge);
    }

    private int traceAt(Instruction i, String target) throws UnverifiedException {
        int place = place(i, target);
        if (place >= body.code.size()) {
            throw new UnverifiedException(i.line(), "a branch to the end of the function");
        }
        return traceOf[place];
    }

    private int place(Instruction i, String target) throws UnverifiedException {
        Integer place = body.labels.get(target);
        if (place == null) {
            throw new UnverifiedException(i.line(), i.mnemonic() + " goes to '" + target + "', which is no label of the function");
        }
        return place;
    }

    /** Returns the labels to which an instruction may branch. */
    public List<String> targets(Instruction i) throws UnverifiedException {
        switch (i.opcode()) {
            case "bra" -> {
                if (i.operands().size() == 1 && i.operands().getFirst() instanceof Operand.Symbol(String name, long offset) && offset == 0) {
                    return List.of(name);
                }
            }
            case "brx" -> {
                if (i.operands().size() == 2 && i.operands().getLast() instanceof Operand.Symbol(String name, long offset) && offset == 0
                        && body.tables.containsKey(name) && i.has("idx")) {
                    return body.tables.get(name);
                }
            }
            default -> {
                return List.of();
            }
        }
        throw new UnverifiedException(i.line(), "where " + i.mnemonic() + " goes is not known");
    }

    private int[] reachable() {
        int[] found = new int[start.length];
        int[] next = new int[start.length];
        int[] stack = new int[start.length];
        boolean[] seen = new boolean[start.length];
        int depth = 0;
        int done = start.length;
        if (start.length > 0) {
            stack[depth++] = 0;
            seen[0] = true;
        }
        while (depth > 0) {
            int t = stack[depth - 1];
            if (next[t] == out.get(t).size()) {
                found[--done] = t;
                depth--;
                continue;
            }
            FlowEdge edge = out.get(t).get(next[t]++);
            in.get(edge.to()).add(edge);
            if (!seen[edge.to()]) {
                seen[edge.to()] = true;
                stack[depth++] = edge.to();
            }
        }
        return Arrays.copyOfRange(found, done, start.length);
    }
}
