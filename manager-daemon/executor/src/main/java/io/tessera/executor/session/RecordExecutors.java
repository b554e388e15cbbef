package io.tessera.executor.session;

import io.tessera.clock.NanoClock;
import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.dispatch.CallExecutor;
import io.tessera.executor.image.ClientImages;
import io.tessera.executor.launch.LaunchExecutor;
import io.tessera.executor.memory.PinnedMemory;
import io.tessera.executor.query.QueryExecutor;
import java.lang.foreign.Arena;

/**
 * The objects that execute one client's records, by their kind. One owner thread.
 *
 * @param calls     CALL and BULK
 * @param launches  LAUNCH
 * @param queries   QUERY
 * @param resources frees the objects of a context or of the client
 */
public record RecordExecutors(CallExecutor calls, LaunchExecutor launches, QueryExecutor queries, ClientResources resources) {
    /** Creates the executors of one client, with memory of an arena that lives as long as they do. */
    public static RecordExecutors of(ClientExecution execution, ClientAllocations allocations, ClientCompletion completion, ClientImages images,
            PinnedMemory pinned, Arena arena, NanoClock clock) {
        CallExecutor calls = new CallExecutor(execution, allocations, completion, images, arena);
        LaunchExecutor launches = new LaunchExecutor(execution.driver(), execution.handles(), execution.streams(), allocations.memory(),
                allocations.charge(), execution.fences(), calls.graphs(), clock, arena);
        return new RecordExecutors(calls, launches, new QueryExecutor(execution, allocations, pinned, completion.printing()),
                new ClientResources(execution, allocations, calls));
    }
}
