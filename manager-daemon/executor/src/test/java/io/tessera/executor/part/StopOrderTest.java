package io.tessera.executor.part;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which kernels are stopped for interactive work, and when. */
class StopOrderTest {
    private static final long MS = 1_000_000L;

    private final StopOrder order = new StopOrder();
    private final ClientPart early = running(10 * MS);
    private final ClientPart late = running(30 * MS);
    private final ClientPart middle = running(20 * MS);
    private List<ClientPart> running = List.of(early, late, middle);

    private static ClientPart running(long sinceNs) {
        ClientPart client = new ClientPart("batch");
        client.running(sinceNs);
        return client;
    }

    private void at(long ms, boolean work, ClientPart... stopped) {
        assertEquals(Set.of(stopped), order.look(work, running, ms * MS), ms + " ms");
    }

    @Test
    void theLatestIsFirstAndOthersFollowOneByOne() {
        at(100, true);
        at(101, true);
        at(102, true, late);
        at(106, true, late);
        at(107, true, late, middle);
        running = List.of(early, middle); // the latest has stopped
        at(108, true, middle);
        at(112, true, middle, early);
        at(130, true, middle, early);
    }

    @Test
    void workThatIsDoneStopsNothing() {
        at(100, true);
        at(101, false);
        at(102, true);
        at(103, true);
        at(104, true, late);
        at(105, false);
        at(106, true);
        at(108, true, late);
    }

    @Test
    void withoutSuchKernelsThereIsNothingToStop() {
        running = List.of();
        at(100, true);
        at(110, true);
        running = List.of(early);
        at(111, true, early);
    }
}
