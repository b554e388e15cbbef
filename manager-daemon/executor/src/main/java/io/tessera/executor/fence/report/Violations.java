package io.tessera.executor.fence.report;

import io.tessera.device.CudaResult;
import io.tessera.executor.fence.program.FencedProgram;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.text.ReportArea.Kind;
import io.tessera.guardian.fence.text.ReportArea.Violation;
import io.tessera.protocol.relay.RelaySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns an action of a client's kernels that a fence prevented into the error that CUDA would give, and a sentence for the user. The error is sticky, and
 * affects only this client. One owner thread.
 */
public final class Violations {
    /** Shows a line as it is, as RELAY.md says. */
    private static final char AS_IT_IS = 1;
    private static final int MOST_SAID = 8;
    private static final Logger LOG = LoggerFactory.getLogger(Violations.class);

    private final ReportPage page;
    private final RelaySegment segment;
    private final Map<Integer, FencedTables> tables = new HashMap<>();
    private final Set<Integer> parts = new HashSet<>();
    private final MachineReports machineReports = new MachineReports();
    private int result;

    /** Creates an instance for one client; nothing has been reported. */
    public Violations(ReportPage page, RelaySegment segment) {
        this.page = page;
        this.segment = segment;
    }

    /** Adds a program, whose kernels may report from now on. */
    public void add(FencedProgram program) {
        program.tables().forEach(table -> tables.put(table.id(), table));
    }

    /** As above, for a program whose launches execute a part of their grid, so that reported blocks are counted from the first block of the part. */
    public void addPart(FencedProgram program) {
        add(program);
        program.tables().forEach(table -> parts.add(table.id()));
    }

    /** Returns the CUresult for the reports so far; the first report decides. */
    public int look() {
        if (result == CudaResult.SUCCESS && page.machineReport() != 0) {
            result = machineCode(page.machineReport());
        }
        if (result != CudaResult.SUCCESS || !page.isReported()) {
            return result;
        }
        List<Violation> all = page.violations();
        int reported = 0;
        for (Violation violation : all) {
            int its = result(violation.kind());
            result = result == CudaResult.SUCCESS ? its : result;
            if (reported++ < MOST_SAID) {
                String text = text(violation);
                LOG.warn("{}", text);
                segment.notice(violation.kind() == Kind.ASSERT ? AS_IT_IS + text : text);
            }
        }
        if (reported > MOST_SAID) {
            segment.notice("and " + (page.count() - MOST_SAID) + " more of the kind");
        }
        return result;
    }

    private int machineCode(int word) {
        MachineReports.Said said = machineReports.read(word);
        LOG.warn("{}", said.text());
        segment.notice(said.asItIs() ? AS_IT_IS + said.text() : said.text());
        return said.result();
    }

    /**
     * Adds an image of machine code, whose threads may report from now on.
     *
     * @param number     the number that they write
     * @param label      of the image, for the user
     * @param assertions texts of its assertions; the first has number 1
     */
    public void addImage(int number, String label, List<String> assertions) {
        machineReports.add(number, label, assertions);
    }

    /** Removes an image, of which no thread reports any more. */
    public void removeImage(int number) {
        machineReports.remove(number);
    }

    private static int result(Kind kind) {
        return switch (kind) {
            case ADDRESS, HANDLE -> CudaResult.ILLEGAL_ADDRESS;
            case MISALIGNED -> CudaResult.MISALIGNED_ADDRESS;
            case TRAP, RETURNED, BARRIER, DEVICE -> CudaResult.LAUNCH_FAILED;
            case ASSERT -> CudaResult.ASSERT;
            case CALL_TARGET -> CudaResult.INVALID_PC;
        };
    }

    private String text(Violation violation) {
        FencedTables known = tables.get(violation.module());
        if (violation.kind() == Kind.ASSERT) {
            return assertion(violation, known);
        }
        if (violation.kind() == Kind.DEVICE) {
            return "a kernel could not be run to its end by the software GPU; the executor's log says which, and why";
        }
        String kernel = known != null && violation.function() >= 0
                && violation.function() < known.functions().size() ? known.functions().get(violation.function())
                        : "of an unknown name";
        return "kernel " + kernel + ", block " + triple(violation.block()) + (parts.contains(violation.module()) ? " of a part of its grid" : "")
                + ", thread " + triple(violation.thread())
                + ": " + what(violation) + " (line " + violation.line() + " of its PTX)";
    }

    private static String what(Violation violation) {
        String address = "0x" + Long.toHexString(violation.address());
        return switch (violation.kind()) {
            case ADDRESS -> "access to " + address + ", outside the tenant's memory";
            case MISALIGNED -> "misaligned access to " + address;
            case TRAP -> "trap";
            case CALL_TARGET -> "indirect call of " + address + ", which is no function for it";
            case HANDLE -> "texture or surface " + address + ", which is not the program's";
            case BARRIER -> "came to a barrier where not all of its warp did (lanes " + address + ")";
            case RETURNED -> "return from a function that does not return";
            case ASSERT -> "assertion";
            case DEVICE -> "failure of the device";
        };
    }

    private static String triple(List<Integer> of) {
        return "(" + of.get(0) + "," + of.get(1) + "," + of.get(2) + ")";
    }

    private static String assertion(Violation violation, FencedTables known) {
        long index = violation.address();
        String text = known != null && index >= 0 && index < known.assertTexts().size()
                ? known.assertTexts().get((int) index) : "unknown:0: unknown: unknown";
        return AssertionLine.of(text, " block: " + list(violation.block()) + ", thread: " + list(violation.thread()));
    }

    private static String list(List<Integer> of) {
        return "[" + of.get(0) + "," + of.get(1) + "," + of.get(2) + "]";
    }
}
