package io.tessera.executor.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.CudaResult;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which clients hear whose fault it was. */
class FaultAttributionTest {
    private static final FaultCandidate CULPRIT = new FaultCandidate("training", 1000, "client 1", true, true, List.of("k"));
    private static final FaultCandidate SAME_USER = new FaultCandidate("notebook", 1000, "client 2", false, true, List.of());
    private static final FaultCandidate OTHER_USER = new FaultCandidate("training", 1001, "client 3", true, false, List.of());

    private final FaultAttribution blame = FaultAttribution.of(CudaResult.ASSERT, List.of(CULPRIT, SAME_USER, OTHER_USER));

    @Test
    void theCulpritGetsItsErrorAndNoLine() {
        assertEquals(CudaResult.ASSERT, blame.resultFor(CULPRIT));
        assertEquals(Optional.empty(), blame.lineFor(CULPRIT));
    }

    @Test
    void aNeighbourOfTheSameUserHearsTheName() {
        assertEquals(CudaResult.CONTEXT_IS_DESTROYED, blame.resultFor(SAME_USER));
        assertEquals(Optional.of("the context that programs share was ended by a fault (CUDA error 710) of tenant \"training\"; this "
                + "program has no part in it and can be started again"), blame.lineFor(SAME_USER));
    }

    @Test
    void aNeighbourOfAnotherUserHearsNoNameAlsoWhereTheLabelIsItsOwn() {
        assertEquals(CudaResult.CONTEXT_IS_DESTROYED, blame.resultFor(OTHER_USER));
        assertEquals(Optional.of("the context that programs share was ended by a fault (CUDA error 710) of another user's program; "
                + "this program has no part in it and can be started again"), blame.lineFor(OTHER_USER));
    }

    @Test
    void whoMayHaveDoneItHearsThatItMayBeHis() {
        FaultCandidate second = new FaultCandidate("other", 1000, "client 4", true, true, List.of());
        FaultAttribution shared = FaultAttribution.of(CudaResult.ASSERT, List.of(CULPRIT, second, SAME_USER));
        assertEquals(CudaResult.ASSERT, shared.resultFor(second));
        assertEquals(Optional.of("the context that programs share was ended by a fault (CUDA error 710) of this program or of another "
                + "one that was working"), shared.lineFor(second));
        assertEquals(CudaResult.CONTEXT_IS_DESTROYED, shared.resultFor(SAME_USER));
    }
}
