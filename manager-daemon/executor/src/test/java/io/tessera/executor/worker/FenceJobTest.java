package io.tessera.executor.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A worker makes what the fencer makes, with the proofs that were asked for. */
class FenceJobTest {
    /** Two kernels with a loop that is shown to end. */
    private static final byte[] CODE = (".version 7.0\n.target sm_70\n.address_size 64\n" + kernel("first") + kernel("second"))
            .getBytes(StandardCharsets.US_ASCII);
    private static final ComputeCapability DEVICE = new ComputeCapability(9, 0);

    private static String kernel(String name) {
        return ".visible .entry " + name + "(.param .u32 turns)\n{\n.reg .b32 %r<2>;\n.reg .pred %p<1>;\n  ld.param.u32 %r0, [turns];\n"
                + "again:\n  sub.u32 %r0, %r0, 1;\n  setp.ne.u32 %p0, %r0, 0;\n  @%p0 bra again;\n  ret;\n}\n";
    }

    private static String made(PlainFunctions plain) {
        FenceRequest request = new FenceRequest(FenceMode.MASK, DEVICE, false, Optional.empty(), plain);
        Message answer = FenceJob.run(FenceJob.message(request, List.of(CODE)));
        assertEquals(0, answer.numbers().getFirst(), answer.text());
        return new String(answer.parts().getFirst(), StandardCharsets.UTF_8);
    }

    private static String fenced(PlainFunctions plain) throws Exception {
        return new Fencer(FenceMode.MASK).plainly(plain).on(DEVICE.sm()).fence(PtxParser.parse(CODE)).ptx();
    }

    @Test
    void aFunctionHasTheProofsThatWereAskedFor() throws Exception {
        PlainFunctions one = new PlainFunctions(false, Set.of("first"), 1);
        for (PlainFunctions plain : List.of(PlainFunctions.none(), one, PlainFunctions.everything())) {
            assertEquals(fenced(plain), made(plain), plain.toString());
        }
        assertNotEquals(made(PlainFunctions.none()), made(one));
        assertNotEquals(made(one), made(PlainFunctions.everything()));
    }
}
