package io.tessera.executor.fence.report;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverPort;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.protocol.relay.RelaySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notifies the user of a program that code, or a request, is refused by a fence. Stateless. */
public final class RefusedCode {
    private static final Logger LOG = LoggerFactory.getLogger(RefusedCode.class);

    private RefusedCode() {
    }

    /**
     * Tells the user that code is refused. If the fences refuse it, the line contains advice; a compiler's refusal has none, since it would also occur
     * without fences.
     *
     * @param code the refused code
     * @param why  the cause, with an instruction and its line if possible
     * @return the answer for the client; its text is only the cause, for the logs of a JIT compiler
     */
    public static ProgramRefusedException refused(String code, ProgramRefusedException why, RelaySegment segment) {
        boolean ours = why.result() == CudaResult.NOT_SUPPORTED && !why.getMessage().endsWith(ProgramRefusedException.REMEDY);
        String line = code + " is refused: " + why.getMessage().strip() + (ours ? ProgramRefusedException.REMEDY : "");
        LOG.warn("{} ({})", line, why.result());
        segment.notice(line);
        return new ProgramRefusedException(why.result(), why.getMessage());
    }

    /** Tells the user why an image can neither be fenced nor run unfenced. Returns the answer for the client. */
    public static ProgramRefusedException both(String image, ProgramRefusedException fenced, ProgramRefusedException asItIs, RelaySegment segment) {
        String why = fenced.getMessage() + ", and unfenced it fails too: " + asItIs.getMessage();
        return refused("image " + image, new ProgramRefusedException(fenced.result(), why), segment);
    }

    /**
     * Tells the user what the driver reports about code that it has loaded but cannot run.
     *
     * @param result of a call that requested a kernel; only INVALID_PTX is reported
     * @param driver the driver that made the call, in this thread
     */
    public static void byDriver(int result, DriverPort driver, RelaySegment segment) {
        String why = result == CudaResult.INVALID_PTX ? driver.whyInvalid() : "";
        if (!why.isEmpty()) {
            segment.notice(why + (driver.software() ? "; run the program on a machine with a GPU" : ""));
        }
    }

    /** Reports a refusal, which is answered with its result: its text becomes a line for the user if that is intended. */
    public static void answered(ProgramRefusedException refused, RelaySegment segment) {
        if (refused.isToTell()) {
            segment.notice(refused.getMessage());
        }
    }
}
