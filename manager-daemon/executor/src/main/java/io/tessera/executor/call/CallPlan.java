package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.executor.call.CallRow.StreamUse;

/** Plan of a client's CALL of one entry: the entry's shape, and the row of its call. Immutable. */
public final class CallPlan {
    final CallShape shape;
    final CallRow row;
    private final CallBody body;
    /** By index: whether the parameter's data has no description, so that the call itself checks and unpacks it. */
    private final boolean[] packed;

    CallPlan(CallShape shape, CallRow row, CallBody body) {
        this.shape = shape;
        this.row = row;
        this.body = body;
        this.packed = new boolean[shape.parameters.length];
        for (int i = 0; i < packed.length; i++) {
            packed[i] = row.packed.contains(shape.description.parameters().get(i).name());
        }
    }

    /** Returns the entry. */
    public DriverEntry entry() {
        return shape.description.entry();
    }

    /** The row of the call. */
    public CallRow row() {
        return row;
    }

    /** Returns the body that makes the call. */
    public CallBody body() {
        return body;
    }

    /** Returns the shape of the entry. */
    public CallShape shape() {
        return shape;
    }

    /** Returns whether it submits something to the stream that it names, so that the waits which that stream owes have to be submitted before. */
    public boolean submits() {
        return shape.stream >= 0 && row.streamUse != StreamUse.STATE;
    }

    /** Returns whether it makes the device work, and so waits for its tenant's turn. */
    public boolean occupiesDevice() {
        return row.isOccupyingDevice();
    }

    /** Returns whether what it submits is a node of a graph while the stream is captured. */
    public boolean isNode() {
        return shape.stream >= 0 && row.streamUse == StreamUse.WORK;
    }

    /** Returns by index whether a parameter's data is packed (RELAY.md, section 8). Must not be modified. */
    public boolean[] packed() {
        return packed;
    }
}
