package io.tessera.executor.call;

import io.tessera.device.DriverApi;
import io.tessera.device.HandleKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;

/**
 * Everything that is special about one call, in all its versions; methods are in the order in which their steps run. Made by
 * {@link CallTable#row}, complete when its family has entered it. Owned by one client's thread.
 */
public final class CallRow {
    /** How a call uses the stream that it names. */
    public enum StreamUse {
        /** Submits work, which is a node of a graph while the stream is captured. */
        WORK,
        /** Orders work or queries it; not a node of a graph. */
        ORDER,
        /** Changes or queries the stream itself and submits nothing. */
        STATE
    }

    /** For what the stream may wait at a call, so that it stands still. */
    public enum Pause {
        /** Nothing. */
        NONE,
        /** A value in memory, which the program itself may write. */
        FOR_VALUE,
        /** Work of other streams. */
        FOR_STREAM,
        /** A wait that is a node of a graph. */
        IN_GRAPH
    }

    private static final CallStep NOTHING = _ -> {};

    final DriverApi api;
    Set<String> packed = Set.of();
    private AddressRule span = AddressRule.ONE_BYTE;
    StreamUse streamUse = StreamUse.WORK;
    private Pause pause = Pause.NONE;
    private boolean contextless;
    private boolean namesForGraphs;
    private boolean makesMemory;
    private boolean takesHostAddresses;
    private boolean namesOnly;
    private boolean occupiesDevice;
    private HandleKind ends;
    private CallStep admission = NOTHING;
    private CallStep[] checks = {};
    private CallStep capture;
    private CallStep preparation = NOTHING;
    /** Makes the call; null: the driver's entry is called. */
    CallBody body;
    private Consumer<CallFrame> submitted;
    private CallOutcome completion;
    private ToLongFunction<CallFrame> parent;
    private final List<ToIntFunction<CallFrame>> records = new ArrayList<>();
    private Consumer<CallFrame> failed;

    CallRow(DriverApi api) {
        this.api = api;
    }

    /** Declares that the call needs no context of the client. */
    public CallRow withoutContext() {
        contextless = true;
        return this;
    }

    /** Declares that graphs may keep what it names: memory, code and arrays that a graph uses live as long as the graph. It needs no context. */
    public CallRow ofGraphs() {
        contextless = true;
        namesForGraphs = true;
        return this;
    }

    /** Declares parameters whose data has no description: the call's steps check and unpack them. */
    public CallRow packed(String... parameters) {
        packed = Set.of(parameters);
        return this;
    }

    /** Sets how the call uses the stream that it names; work by default. */
    public CallRow stream(StreamUse use) {
        streamUse = use;
        return this;
    }

    /** Declares that the stream may stand still at the call. */
    public CallRow pauses(Pause why) {
        pause = why;
        return this;
    }

    /** Declares that the call makes memory of the client, or names it for the first time: one more range, which the client's bound on ranges must allow. */
    public CallRow makesMemory() {
        makesMemory = true;
        return this;
    }

    /** Declares that the call occupies the device: it waits for its tenant's turn. */
    public CallRow occupiesDevice() {
        occupiesDevice = true;
        return this;
    }

    /** Declares that the object of the first parameter ends when the call succeeds, with all that belongs to it. */
    public CallRow ends(HandleKind kind) {
        ends = kind;
        return this;
    }

    /** Declares that handles in its results are of objects that exist already: unknown ones become 0. */
    public CallRow namesOnly() {
        namesOnly = true;
        return this;
    }

    /** Sets the client's handle with which the results end, if that is not the usual parameter for results of their kind. */
    public CallRow parent(ToLongFunction<CallFrame> handle) {
        parent = handle;
        return this;
    }

    /** Declares that it takes addresses of pinned memory as pointers of the host. */
    public CallRow takesHostAddresses() {
        takesHostAddresses = true;
        return this;
    }

    /** Sets the bytes that it touches from each of its device addresses; one byte by default. */
    public CallRow spans(AddressRule rule) {
        span = rule;
        return this;
    }

    /** Sets a step that runs before handles are translated. */
    public CallRow admits(CallStep step) {
        admission = step;
        return this;
    }

    /** Adds a step that runs when handles are translated and addresses checked; steps of one row run in the order in which they are added. */
    public CallRow checks(CallStep step) {
        checks = Arrays.copyOf(checks, checks.length + 1);
        checks[checks.length - 1] = step;
        return this;
    }

    /** Sets a step that runs while its stream is captured, in place of the usual accounting of a node. */
    public CallRow captures(CallStep step) {
        capture = step;
        return this;
    }

    /** Sets the last step before the driver is called, which {@link #completes} follows in any case: it charges memory, or finds what will be freed. */
    public CallRow prepares(CallStep step) {
        preparation = step;
        return this;
    }

    /** Sets a body that is called in place of the driver's entry. */
    public CallRow executes(CallBody calls) {
        body = calls;
        return this;
    }

    /** Sets a step that runs when the call has succeeded, before its stream counts it. */
    public CallRow submits(Consumer<CallFrame> step) {
        submitted = step;
        return this;
    }

    /** Sets a step that runs when the call has been made or rejected after {@link #prepares}, with the driver's handles in the results. */
    public CallRow completes(CallOutcome outcome) {
        completion = outcome;
        return this;
    }

    /** Adds a step that runs when the call has succeeded, with the client's handles in the results. */
    public CallRow records(Consumer<CallFrame> step) {
        return answers(frame -> {
            step.accept(frame);
            return 0;
        });
    }

    /** As {@link #records}; the step returns the CUresult that the client gets. */
    public CallRow answers(ToIntFunction<CallFrame> step) {
        records.add(step);
        return this;
    }

    /** Sets a step that runs when the call has failed, with no handles in the results. */
    public CallRow fails(Consumer<CallFrame> step) {
        failed = step;
        return this;
    }

    /** Returns whether it needs no context. */
    public boolean isContextless() {
        return contextless;
    }

    /** Returns whether graphs may keep what it names. */
    public boolean isOfGraphs() {
        return namesForGraphs;
    }

    /** Returns whether it makes the device work. */
    boolean isOccupyingDevice() {
        return occupiesDevice;
    }

    /** Returns whether it makes a range of memory. */
    public boolean isMakingMemory() {
        return makesMemory;
    }

    /** Returns the kind of object that the call ends; null: none. */
    public HandleKind ended() {
        return ends;
    }

    /** Returns for what the stream may wait at the call. */
    public Pause pause() {
        return pause;
    }

    /** Takes the step before handles are translated. */
    public void admit(CallFrame frame) throws RejectedException {
        admission.take(frame);
    }

    /** Takes the steps after addresses are checked. */
    public void check(CallFrame frame) throws RejectedException {
        for (CallStep step : checks) {
            step.take(frame);
        }
    }

    /** The step while its stream is captured; null: as for any node. */
    public CallStep capture() {
        return capture;
    }

    /** Takes the last step before the driver is called. */
    public void prepare(CallFrame frame) throws RejectedException {
        preparation.take(frame);
    }

    /** Runs the step after success; the stream has not counted the call yet. */
    public void submitted(CallFrame frame) {
        if (submitted != null) {
            submitted.accept(frame);
        }
    }

    /** Runs the step after the call was made or rejected. */
    public void complete(CallFrame frame, int result) {
        if (completion != null) {
            completion.completed(frame, result);
        }
    }

    /** Runs the last steps after success. Returns SUCCESS, or the result for the client. */
    public int record(CallFrame frame) {
        int result = 0;
        for (int i = 0; i < records.size() && result == 0; i++) {
            result = records.get(i).applyAsInt(frame);
        }
        return result;
    }

    /** Runs the step after a failure. */
    public void failed(CallFrame frame) {
        if (failed != null) {
            failed.accept(frame);
        }
    }

    AddressRule span() {
        return span;
    }

    /** Returns whether addresses of pinned memory may stand for pointers. */
    public boolean isTakingHostAddresses() {
        return takesHostAddresses;
    }

    boolean isNamingOnly() {
        return namesOnly;
    }

    ToLongFunction<CallFrame> parent() {
        return parent;
    }
}
