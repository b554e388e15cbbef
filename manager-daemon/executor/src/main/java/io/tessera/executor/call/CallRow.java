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
 * Everything that is special about one call, of all its versions, in the order in which it happens. Made by
 * {@link CallTable#row}, complete when its family has entered it. Owned by one client's thread.
 */
public final class CallRow {
    /** What a call is to the stream that it names. */
    public enum StreamUse {
        /** It submits work, which is a node of a graph while the stream is captured. */
        WORK,
        /** It orders work or asks for it: no node of a graph. */
        ORDER,
        /** It changes or asks the stream itself and submits nothing. */
        STATE
    }

    /** Whether the stream may stand still at a call. */
    public enum Pause {
        /** It may not. */
        NONE,
        /** For a value in memory, which the program itself may write. */
        FOR_VALUE,
        /** For other streams' work. */
        FOR_STREAM,
        /** At waits in a graph. */
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
    /** How it is made; null: by the driver's entry alone. */
    CallBody body;
    private Consumer<CallFrame> submitted;
    private CallOutcome completion;
    private ToLongFunction<CallFrame> parent;
    private final List<ToIntFunction<CallFrame>> records = new ArrayList<>();
    private Consumer<CallFrame> failed;

    CallRow(DriverApi api) {
        this.api = api;
    }

    /** It needs no context of the client. */
    public CallRow withoutContext() {
        contextless = true;
        return this;
    }

    /** Graphs may keep what it names: memory, code and arrays that a graph uses live as long as the graph. It needs no context. */
    public CallRow ofGraphs() {
        contextless = true;
        namesForGraphs = true;
        return this;
    }

    /** Parameters whose data no description tells: the call's steps check and unpack them. */
    public CallRow packed(String... parameters) {
        packed = Set.of(parameters);
        return this;
    }

    /** Its effect on the stream that it names; work by default. */
    public CallRow stream(StreamUse use) {
        streamUse = use;
        return this;
    }

    /** The stream may stand still at it. */
    public CallRow pauses(Pause why) {
        pause = why;
        return this;
    }

    /** It makes memory of the client's, or names it for the first time: one range more, which must be in the client's limit. */
    public CallRow makesMemory() {
        makesMemory = true;
        return this;
    }

    /** It has the device work: it waits for its tenant's turn. */
    public CallRow occupiesDevice() {
        occupiesDevice = true;
        return this;
    }

    /** Its first parameter is over when it succeeds, and what belongs to that. */
    public CallRow ends(HandleKind kind) {
        ends = kind;
        return this;
    }

    /** The handles in its results are of things that exist already: unknown ones become 0. */
    public CallRow namesOnly() {
        namesOnly = true;
        return this;
    }

    /** The client's handle of what its results end with, where that is no parameter of the kind that things of theirs end with. */
    public CallRow parent(ToLongFunction<CallFrame> handle) {
        parent = handle;
        return this;
    }

    /** Addresses of pinned memory may stand where it takes pointers of the host. */
    public CallRow takesHostAddresses() {
        takesHostAddresses = true;
        return this;
    }

    /** Bytes that it touches from each of its device addresses; one byte by default. */
    public CallRow spans(AddressRule rule) {
        span = rule;
        return this;
    }

    /** Before handles are translated. */
    public CallRow admits(CallStep step) {
        admission = step;
        return this;
    }

    /** When handles are translated and addresses checked; steps of one row run in the order in which they are entered. */
    public CallRow checks(CallStep step) {
        checks = Arrays.copyOf(checks, checks.length + 1);
        checks[checks.length - 1] = step;
        return this;
    }

    /** While its stream is captured, in place of a node's usual account. */
    public CallRow captures(CallStep step) {
        capture = step;
        return this;
    }

    /** The last step before the driver is called, with which {@link #completes} is paired: charges, finds what will be freed. */
    public CallRow prepares(CallStep step) {
        preparation = step;
        return this;
    }

    /** In place of the driver's entry alone. */
    public CallRow executes(CallBody calls) {
        body = calls;
        return this;
    }

    /** When it has succeeded, before its stream counts it. */
    public CallRow submits(Consumer<CallFrame> step) {
        submitted = step;
        return this;
    }

    /** When it has been made or rejected after {@link #prepares}, with the driver's handles in the results. */
    public CallRow completes(CallOutcome outcome) {
        completion = outcome;
        return this;
    }

    /** When it has succeeded, with the client's handles in the results. */
    public CallRow records(Consumer<CallFrame> step) {
        return answers(frame -> {
            step.accept(frame);
            return 0;
        });
    }

    /** The same with the CUresult that the client gets then. */
    public CallRow answers(ToIntFunction<CallFrame> step) {
        records.add(step);
        return this;
    }

    /** When it has failed, with no handles in the results. */
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

    /** Returns whether it has the device work. */
    boolean isOccupyingDevice() {
        return occupiesDevice;
    }

    /** Returns whether it makes a range of memory. */
    public boolean isMakingMemory() {
        return makesMemory;
    }

    /** What it ends; null: nothing. */
    public HandleKind ended() {
        return ends;
    }

    /** Whether the stream may stand still at it. */
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

    /** It has succeeded; its stream has not counted it. */
    public void submitted(CallFrame frame) {
        if (submitted != null) {
            submitted.accept(frame);
        }
    }

    /** It has been made or rejected. */
    public void complete(CallFrame frame, int result) {
        if (completion != null) {
            completion.completed(frame, result);
        }
    }

    /** It has succeeded. Returns SUCCESS, or what the client is answered. */
    public int record(CallFrame frame) {
        int result = 0;
        for (int i = 0; i < records.size() && result == 0; i++) {
            result = records.get(i).applyAsInt(frame);
        }
        return result;
    }

    /** It has failed. */
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
