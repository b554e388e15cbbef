package io.tessera.executor.call;

import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import java.util.EnumSet;
import java.util.Set;

/**
 * The calls that a client may make: one row for each, entered by the class that knows the call. A call without a row is refused. Filled
 * when the client comes, unchanged afterwards. One owner thread.
 */
public final class CallTable {
    private final CallBody plain;
    private final CallRow[] rows = new CallRow[DriverApi.values().length];
    private final CallPlan[] plans = new CallPlan[DriverEntry.values().length];

    /**
     * Creates a table without calls.
     *
     * @param plain the body of calls whose row has none
     */
    public CallTable(CallBody plain) {
        this.plain = plain;
    }

    /**
     * Enters a call.
     *
     * @throws IllegalStateException if it is there already
     */
    public CallRow row(DriverApi api) {
        if (rows[api.ordinal()] != null) {
            throw new IllegalStateException(api + " has two rows");
        }
        rows[api.ordinal()] = new CallRow(api);
        return rows[api.ordinal()];
    }

    /** Enters calls without special behaviour, for which their description is enough. */
    public void plain(DriverApi... apis) {
        for (DriverApi api : apis) {
            row(api);
        }
    }

    /** Adds calls that need no special row and no context of the client. */
    public void plainWithoutContext(DriverApi... apis) {
        for (DriverApi api : apis) {
            row(api).withoutContext();
        }
    }

    /** Returns the plan of an entry; null: it is not relayed. */
    public CallPlan plan(DriverEntry entry) {
        CallPlan plan = plans[entry.ordinal()];
        if (plan == null) {
            CallShape shape = CallShape.of(entry);
            CallRow row = rows[shape.description.api().ordinal()];
            if (row != null && CallShape.served(shape.description)) {
                plan = new CallPlan(shape, row, row.body == null ? plain : row.body);
                plans[entry.ordinal()] = plan;
            }
        }
        return plan;
    }

    /** Returns the calls that have a row. */
    public Set<DriverApi> calls() {
        Set<DriverApi> calls = EnumSet.noneOf(DriverApi.class);
        for (DriverApi api : DriverApi.values()) {
            if (rows[api.ordinal()] != null) {
                calls.add(api);
            }
        }
        return calls;
    }
}
