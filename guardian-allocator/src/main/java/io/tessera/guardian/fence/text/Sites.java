package io.tessera.guardian.fence.text;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Code at the end of a function where a thread goes that was kept from something: it writes a record into the
 * {@link ReportArea} and ends. Not thread-safe.
 */
public final class Sites {
    private static final String[] AXES = {"x", "y", "z"};

    /** One place in the function that may branch there. */
    private record Site(String label, ReportArea.Kind kind, int line, Operand address, boolean narrow) {
    }

    private final Code code;
    private final int function;
    private final int module;
    private final List<Site> sites = new ArrayList<>();
    private final List<Runnable> tails = new ArrayList<>();

    /** Creates the sites of one function, by the numbers of the function and of its module. */
    public Sites(Code code, int function, int module) {
        this.code = code;
        this.function = function;
        this.module = module;
    }

    /**
     * A label to branch to.
     *
     * @param address 64-bit register or immediate that is recorded
     */
    public String site(ReportArea.Kind kind, int line, Operand address) {
        return add(new Site(code.newLabel("site"), kind, line, address, false));
    }

    /** As above, with a register of 32 bits. */
    public String narrow(ReportArea.Kind kind, int line, Operand.Register address) {
        return add(new Site(code.newLabel("site"), kind, line, address, true));
    }

    private String add(Site site) {
        sites.add(site);
        return site.label();
    }

    /** Goes to a label where a predicate and a guard hold. */
    public void branchIf(Operand.Register predicate, Optional<Guard> guard, String label) {
        Operand.Register both = predicate;
        if (guard.isPresent()) {
            Operand.Register when = guard.get().register();
            if (guard.get().negated()) {
                Operand.Register opposite = code.truth();
                code.emit("not.pred", opposite, when);
                when = opposite;
            }
            both = code.truth();
            code.emit("and.pred", both, predicate, when);
        }
        code.branch(both, false, label);
    }

    /** Adds code that is written at the end of the function and that nothing falls into. */
    public void tail(Runnable writer) {
        tails.add(writer);
    }

    /** Returns whether there is nothing to emit. */
    boolean isEmpty() {
        return sites.isEmpty() && tails.isEmpty();
    }

    /** Writes all of it; control must not fall into it. */
    public void write() {
        tails.forEach(Runnable::run);
        if (sites.isEmpty()) {
            return;
        }
        Operand.Register kind = code.word();
        Operand.Register line = code.word();
        Operand.Register address = code.wide();
        String violation = code.newLabel("violation");
        for (Site site : sites) {
            code.label(site.label());
            code.emit("mov.u32", kind, Code.number(site.kind().code()));
            code.emit("mov.u32", line, Code.number(site.line()));
            code.emit(site.narrow() ? "cvt.u64.u32" : "mov.b64", address, site.address());
            code.emit("bra", new Operand.Symbol(violation, 0));
        }
        code.label(violation);
        record(kind, line, address);
    }

    private void record(Operand.Register kind, Operand.Register line, Operand.Register address) {
        Operand.Register area = code.wide();
        Operand.Register index = code.word();
        Operand.Register full = code.truth();
        code.emit("ld.const.u64", area, Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.REPORT_AREA));
        code.emit("ld.volatile.global.u32", index, Code.at(area, 0));
        code.emit("setp.ge.u32", full, index, Code.number(ReportArea.RECORDS));
        exitIf(full);
        code.emit("atom.global.add.u32", index, Code.at(area, 0), Code.number(1));
        code.emit("setp.ge.u32", full, index, Code.number(ReportArea.RECORDS));
        exitIf(full);
        Operand.Register record = code.wide();
        code.emit("mul.wide.u32", record, index, Code.number(ReportArea.RECORD_BYTES));
        code.emit("add.s64", record, record, area);
        code.emit("add.s64", record, record, Code.number(ReportArea.RECORD_BYTES));
        store(record, ReportArea.FUNCTION, Code.number(function));
        store(record, ReportArea.LINE, line);
        store(record, ReportArea.MODULE, Code.number(module));
        code.emit("st.global.u64", Code.at(record, ReportArea.ADDRESS), address);
        triple(record, ReportArea.BLOCK, "%ctaid");
        triple(record, ReportArea.THREAD, "%tid");
        code.emit("membar.sys");
        code.emit("st.volatile.global.u32", Code.at(record, ReportArea.KIND), kind);
        code.emit("exit");
    }

    private void exitIf(Operand.Register predicate) {
        code.emit(Optional.of(new Guard(predicate, false)), "exit");
    }

    private void store(Operand.Register record, int offset, Operand value) {
        Operand.Register word = code.word();
        code.emit("mov.u32", word, value);
        code.emit("st.global.u32", Code.at(record, offset), word);
    }

    private void triple(Operand.Register record, int offset, String special) {
        for (int i = 0; i < AXES.length; i++) {
            store(record, offset + 4 * i, new Operand.SpecialRegister(special, AXES[i]));
        }
    }
}
