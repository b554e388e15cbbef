package io.tessera.guardian.fence.barrier;

import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.instruction.InstructionClass;
import io.tessera.guardian.fence.instruction.InstructionTable;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.fence.text.FunctionNames;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Rewrites the body of one function without mbarriers. Instructions that it does not understand are left unchanged, and are refused by name later.
 * Used once.
 */
final class BarrierLowering {
    static final String COMPLETES = "mbarrier::complete_tx::bytes";

    private final Code code;
    private final boolean clusters;
    private final BarrierWord word;
    private final BarrierArrival arrivals;
    private final BarrierBytes bytes;
    private final CopyLoop copies;
    private final BulkCopyQueue queue;
    private final List<Completion> open = new ArrayList<>();
    private final Set<Operand.Register> read = new HashSet<>();
    private NamedNumbers numbers;
    private FunctionNames names;

    /** Bytes of a copy in flight, and the mbarrier word on which it completes. */
    private record Completion(BarrierWord.Place place, Operand bytes) {
    }

    /**
     * Creates the lowering for one function.
     *
     * @param code     receives the emitted code
     * @param clusters whether addresses may be in other blocks of a cluster
     * @param drops    whether threads may drop out of barriers
     * @param queue    variable of the queue of bulk copies, or null if there are none
     */
    BarrierLowering(Code code, boolean clusters, boolean drops, String queue) {
        this.code = code;
        this.clusters = clusters;
        this.word = new BarrierWord(code);
        this.arrivals = new BarrierArrival(code, drops);
        this.bytes = new BarrierBytes(code, arrivals);
        this.copies = new CopyLoop(code);
        this.queue = queue == null ? null : new BulkCopyQueue(code, copies, bytes, queue);
    }

    /** Returns whether an instruction is replaced. */
    static boolean isOne(Instruction i) {
        return switch (i.opcode()) {
            case "mbarrier" -> !(InstructionTable.of(i) instanceof InstructionClass.Refused) && isBarrier(i);
            case "cp" -> i.has("mbarrier") ? isAddress(i, 0) : isCopy(i);
            case "st", "red" -> i.has("async") && i.has(COMPLETES) && isAddress(i, 0) && isAddress(i, 2)
                    && !(InstructionTable.of(i) instanceof InstructionClass.Refused);
            case "fence" -> i.has("mbarrier_init");
            default -> false;
        };
    }

    private static boolean isBarrier(Instruction i) {
        int address = Access.address(i, 0);
        int operands = i.operands().size();
        return !i.modifiers().isEmpty() && switch (i.modifiers().getFirst()) {
            case "inval" -> address == 0;
            case "init", "expect_tx", "complete_tx" -> address == 0 && operands == 2;
            case "arrive", "arrive_drop" -> address >= 0 && operands >= address + (i.has("expect_tx") || i.has("noComplete") ? 2 : 1);
            case "test_wait", "try_wait" -> address == 1 && operands >= 3;
            case "pending_count" -> operands == 2;
            default -> false;
        };
    }

    private static boolean isAddress(Instruction i, int operand) {
        return i.operands().size() > operand && i.operands().get(operand) instanceof Operand.Address;
    }

    /** Returns whether it is a bulk copy into shared memory that is not a reduction, has a single destination block, and uses no tensor map. */
    private static boolean isCopy(Instruction i) {
        boolean known = i.has("bulk") && i.has(COMPLETES) && !i.has("tensor") && !i.has("reduce") && isAddress(i, 0) && isAddress(i, 1)
                && isAddress(i, 3) && !(InstructionTable.of(i) instanceof InstructionClass.Refused);
        return known && (!(i.operands().get(2) instanceof Operand.Immediate(long bytes, boolean _))
                || bytes >= 0 && bytes <= CopyLoop.MOST_BYTES && bytes % CopyLoop.UNIT == 0);
    }

    /** Returns whether it is a bulk copy from global memory. */
    static boolean isLoad(Instruction i) {
        return i.opcode().equals("cp") && i.has("global") && isCopy(i);
    }

    /** Writes the body. */
    void body(PtxFunction function) {
        Block body = function.body().orElseThrow();
        if (queue != null && function.kind() == PtxFunction.Kind.ENTRY) {
            queue.clear();
        }
        numbers = new NamedNumbers(body);
        collectRead(body);
        names = new FunctionNames(function);
        body.statements().forEach(this::statement);
        completeAll();
    }

    /** Collects the registers that are read other than as the state of an arrival. */
    private void collectRead(Block block) {
        for (Statement statement : block.statements()) {
            if (statement instanceof Instruction i) {
                boolean arrival = i.opcode().equals("mbarrier") && isOne(i) && i.modifiers().getFirst().startsWith("arrive");
                List<Operand> operands = arrival && i.operands().getFirst() instanceof Operand.Register
                        ? i.operands().subList(1, i.operands().size()) : i.operands();
                operands.forEach(operand -> collectRead(operand));
            }
        }
    }

    private void collectRead(Operand operand) {
        switch (operand) {
            case Operand.Register register -> read.add(register);
            case Operand.Component(String name, String _) -> read.add(new Operand.Register(name));
            case Operand.Address(Operand.Register register, long _) -> read.add(register);
            case Operand.CompoundAddress(List<Operand> parts) -> parts.forEach(this::collectRead);
            case Operand.Vector(List<Operand> elements) -> elements.forEach(this::collectRead);
            case Operand.Arguments(List<Operand> elements) -> elements.forEach(this::collectRead);
            case Operand.Pair(Operand first, Operand second) -> List.of(first, second).forEach(this::collectRead);
            case Operand.Not(Operand inner) -> collectRead(inner);
            case Operand.Minus(Operand inner) -> collectRead(inner);
            default -> {}
        }
    }

    private void statement(Statement statement) {
        switch (statement) {
            case Instruction i when isOne(i) -> {
                if (!passes(i)) {
                    completeAll();
                }
                lower(i);
            }
            case Instruction i -> {
                if (!(InstructionTable.of(i) instanceof InstructionClass.Pure)) {
                    completeAll();
                }
                code.add(i);
            }
            case Label _ -> {
                completeAll();
                code.add(statement);
            }
            default -> code.add(statement);
        }
    }

    /** Returns whether copies may stay in flight across an instruction: it does not wait, and it does not keep another thread waiting for long. */
    private static boolean passes(Instruction i) {
        return i.guard().isEmpty() && (i.opcode().equals("cp") && !i.has("mbarrier") || i.opcode().equals("mbarrier")
                && (i.modifiers().getFirst().equals("expect_tx") || i.has("expect_tx")));
    }

    /** Emits code that waits for all copies and completes them on their words. Only here, so that consecutive copies are in flight together. */
    private void completeAll() {
        if (!open.isEmpty()) {
            code.emit("cp.async.wait_all");
            open.forEach(each -> bytes.complete(each.place(), each.bytes()));
            open.clear();
        }
    }

    private void lower(Instruction i) {
        code.line(i.line());
        String past = i.guard().isPresent() ? code.newLabel("past") : null;
        i.guard().ifPresent(guard -> code.branch(guard.register(), !guard.negated(), past));
        switch (i.opcode()) {
            case "mbarrier" -> barrier(i);
            case "cp" -> {
                if (i.has("mbarrier")) {
                    copiesArrive(i);
                } else {
                    copy(i);
                }
            }
            case "fence" -> code.emit(clusters ? "fence.acq_rel.cluster" : "fence.acq_rel.cta");
            default -> remote(i);
        }
        if (past != null) {
            completeAll();
            code.label(past);
        }
    }

    private void barrier(Instruction i) {
        List<Operand> operands = i.operands();
        switch (i.modifiers().getFirst()) {
            case "inval" -> {}
            case "init" -> word.init(place(i, 0), numbers.of(operands.get(1)));
            case "expect_tx" -> bytes.expect(place(i, 0), numbers.of(operands.get(1)));
            case "complete_tx" -> bytes.complete(place(i, 0), numbers.of(operands.get(1)));
            case "pending_count" -> word.pending(operands.get(0), operands.get(1));
            case "test_wait", "try_wait" -> word.test(place(i, 1), operands.get(0), i.has("parity") ? numbers.of(operands.get(2)) : operands.get(2),
                    i.has("parity"), i.has("try_wait"), this::help);
            default -> arrive(i);
        }
    }

    private void help() {
        if (queue != null) {
            queue.help();
        }
    }

    private void arrive(Instruction i) {
        int address = Access.address(i, 0);
        Operand amount = i.operands().size() > address + 1 ? numbers.of(i.operands().get(address + 1)) : Code.number(1);
        BarrierWord.Place place = place(i, address);
        boolean wanted = address > 0 && i.operands().getFirst() instanceof Operand.Register into && read.contains(into);
        if (i.has("arrive_drop")) {
            arrivals.drop(place, i.has("expect_tx") ? Code.number(1) : amount);
        }
        boolean one = amount instanceof Operand.Immediate(long count, boolean _) && count == 1 && !i.has("shared::cluster");
        Operand.Register state = i.has("expect_tx") ? bytes.arrive(place, amount, wanted)
                : one ? arrivals.one(place, wanted) : arrivals.write(place, arrivals.amount(amount), wanted);
        if (wanted) {
            Operand.Register wide = code.wide();
            code.emit("mov.b64", wide, Code.pair(state, state));
            code.emit("mov.b64", i.operands().getFirst(), wide);
        }
    }

    /** Without {@code .noinc}, PTX expects one more arrival and makes it, which cancels out; so the code only waits for the end of the copies. */
    private void copiesArrive(Instruction i) {
        code.emit("cp.async.wait_all");
        if (i.has("noinc")) {
            arrivals.one(place(i, 0), false);
        }
    }

    private void copy(Instruction i) {
        List<Operand> operands = i.operands();
        boolean fromShared = !i.has("global");
        boolean others = i.has("shared::cluster") && (clusters || fromShared);
        Operand length = copies.length(numbers.of(operands.get(2)));
        Operand.Register from = fromShared ? shared(i, 1) : global(i, 1);
        CopyLoop.Ends ends = new CopyLoop.Ends(shared(i, 0), from, fromShared, others);
        if (queue != null && !fromShared) {
            queue.ask(ends, length, completed(i, 3, others));
        } else {
            copies.write(ends, length);
            open.add(new Completion(completed(i, 3, others), length));
        }
    }

    private BarrierWord.Place completed(Instruction i, int operand, boolean others) {
        return new BarrierWord.Place(shared(i, operand), others ? "shared::cluster" : "shared", clusters || others ? "cluster" : "cta", "release",
                numbers.isSymbol(base(i, operand)));
    }

    /** Lowers {@code st.async} and {@code red.async} to the synchronous form, followed by the completion on the mbarrier. */
    private void remote(Instruction i) {
        List<String> modifiers = i.modifiers().stream().filter(m -> !m.equals("async") && !m.equals(COMPLETES))
                .collect(Collectors.toList());
        code.add(new Instruction(Optional.empty(), i.opcode(), modifiers, i.operands().subList(0, 2), i.line()));
        bytes.complete(completed(i, 2, true), Code.number((long) i.type().map(ScalarType::bytes).orElse(0) * i.vectorLength()));
    }

    private BarrierWord.Place place(Instruction i, int operand) {
        boolean other = i.has("shared::cluster");
        String order = i.has("relaxed") ? "relaxed" : i.modifiers().getFirst().endsWith("_wait") ? "acquire"
                : i.modifiers().getFirst().endsWith("_tx") ? "relaxed" : "release";
        return new BarrierWord.Place(shared(i, operand), other ? "shared::cluster" : "shared",
                clusters || other ? "cluster" : "cta", order, numbers.isSymbol(base(i, operand)));
    }

    private static Operand.Base base(Instruction i, int operand) {
        return ((Operand.Address) i.operands().get(operand)).base();
    }

    /** A new register with an address of shared memory. */
    private Operand.Register shared(Instruction i, int operand) {
        Operand.Address address = (Operand.Address) i.operands().get(operand);
        Operand.Register word = code.word();
        switch (address.base()) {
            case Operand.Named(String name) -> {
                code.emit("mov.u32", word, new Operand.Symbol(name, address.offsetBytes()));
                return word;
            }
            case Operand.Immediate immediate -> code.emit("mov.u32", word, immediate);
            case Operand.Register register -> {
                ScalarType type = names.type(register.name());
                boolean wide = type != null && type.bits() == Long.SIZE;
                boolean generic = wide && i.modifiers().stream().noneMatch(m -> m.startsWith("shared"));
                Operand.Register there = generic ? code.wide() : register;
                if (generic) {
                    code.emit("cvta.to.shared.u64", there, register);
                }
                code.emit(wide ? "cvt.u32.u64" : "mov.b32", word, there);
            }
        }
        if (address.offsetBytes() != 0) {
            code.emit("add.u32", word, word, Code.number((int) address.offsetBytes()));
        }
        return word;
    }

    /** A new register with an address of global memory. */
    private Operand.Register global(Instruction i, int operand) {
        Operand.Address address = (Operand.Address) i.operands().get(operand);
        Operand.Register wide = code.wide();
        code.emit("mov.u64", wide, switch (address.base()) {
            case Operand.Named(String name) -> new Operand.Symbol(name, 0);
            case Operand.Immediate immediate -> immediate;
            case Operand.Register register -> register;
        });
        if (address.offsetBytes() != 0) {
            code.emit("add.s64", wide, wide, Code.number(address.offsetBytes()));
        }
        return wide;
    }
}
