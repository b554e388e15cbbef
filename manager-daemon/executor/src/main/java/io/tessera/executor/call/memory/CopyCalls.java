package io.tessera.executor.call.memory;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.executor.call.AddressCheck;
import io.tessera.executor.call.AddressRule;
import io.tessera.executor.call.ArrayBounds;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallRow;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.CopyStructures;
import io.tessera.executor.call.MovedBytes;
import io.tessera.executor.call.RejectedException;
import io.tessera.protocol.WireTypes;

/** Copies and memsets: what they read and write must be the client's. One owner thread. */
final class CopyCalls {
    private final AddressCheck addresses;
    private final ArrayBounds arrays;
    private final CopyStructures copies;
    private final MovedBytes moved;
    private final NullStream nullStream;

    CopyCalls(CallChecks checks, NullStream nullStream) {
        this.addresses = checks.addresses();
        this.arrays = checks.arrays();
        this.copies = checks.copies();
        this.moved = checks.moved();
        this.nullStream = nullStream;
    }

    void register(CallTable calls) {
        copy(calls, DriverApi.cuMemcpyAsync).spans(bytesIn(2));
        copy(calls, DriverApi.cuMemcpyHtoDAsync).spans(bytesIn(2));
        copy(calls, DriverApi.cuMemcpyDtoDAsync).spans(bytesIn(2));
        copy(calls, DriverApi.cuMemcpyPeerAsync).spans(bytesIn(4));
        copy(calls, DriverApi.cuMemcpyAtoD).spans(bytesIn(3)).checks(frame -> arrays.row(frame, 1, 3)).executes(nullStream::between);
        copy(calls, DriverApi.cuMemcpyDtoA).spans(bytesIn(3)).checks(frame -> arrays.row(frame, 0, 3)).executes(nullStream::between);
        copy(calls, DriverApi.cuMemcpyHtoAAsync).checks(frame -> arrays.row(frame, 0, 3));
        copy(calls, DriverApi.cuMemcpyAtoA).checks(frame -> arrays.row(frame, 0, 4)).checks(frame -> arrays.row(frame, 2, 4))
                .executes(nullStream::between);
        copy(calls, DriverApi.cuMemcpy2DAsync).checks(frame -> copies.plane(frame.required(0)));
        copy(calls, DriverApi.cuMemcpy3DAsync).checks(frame -> copies.box(frame.required(0), false));
        copy(calls, DriverApi.cuMemcpy3DPeerAsync).checks(frame -> copies.box(frame.required(0), true));
        copy(calls, DriverApi.cuMemcpyBatchAsync).checks(this::batch);
        // Copies whose packed form is not unpacked here yet. They are refused by name, so that none is executed in part.
        copy(calls, DriverApi.cuMemcpy3DBatchAsync).executes((_, _) -> CudaResult.NOT_SUPPORTED);
        memsets(calls);
    }

    private static CallRow copy(CallTable calls, DriverApi api) {
        return calls.row(api).occupiesDevice().takesHostAddresses();
    }

    private static AddressRule bytesIn(int parameter) {
        return (frame, _) -> frame.slot(parameter);
    }

    private void memsets(CallTable calls) {
        calls.row(DriverApi.cuMemsetD8Async).occupiesDevice().spans(bytesIn(2));
        calls.row(DriverApi.cuMemsetD16Async).occupiesDevice().spans(AddressRule.elements(2, Short.BYTES));
        calls.row(DriverApi.cuMemsetD32Async).occupiesDevice().spans(AddressRule.elements(2, Integer.BYTES));
        plane(calls, DriverApi.cuMemsetD2D8Async, Byte.BYTES);
        plane(calls, DriverApi.cuMemsetD2D16Async, Short.BYTES);
        plane(calls, DriverApi.cuMemsetD2D32Async, Integer.BYTES);
        calls.row(DriverApi.cuMemsetD8).occupiesDevice().spans(bytesIn(2)).executes(nullStream.by(DriverEntry.cuMemsetD8Async));
        calls.row(DriverApi.cuMemsetD16).occupiesDevice().spans(AddressRule.elements(2, Short.BYTES))
                .executes(nullStream.by(DriverEntry.cuMemsetD16Async));
        calls.row(DriverApi.cuMemsetD32).occupiesDevice().spans(AddressRule.elements(2, Integer.BYTES))
                .executes(nullStream.by(DriverEntry.cuMemsetD32Async));
        plane(calls, DriverApi.cuMemsetD2D8, Byte.BYTES).executes(nullStream.by(DriverEntry.cuMemsetD2D8Async));
        plane(calls, DriverApi.cuMemsetD2D16, Short.BYTES).executes(nullStream.by(DriverEntry.cuMemsetD2D16Async));
        plane(calls, DriverApi.cuMemsetD2D32, Integer.BYTES).executes(nullStream.by(DriverEntry.cuMemsetD2D32Async));
    }

    /** Parameters of the two-dimensional memsets: address, pitch, value, width, height. */
    private CallRow plane(CallTable calls, DriverApi api, int elementBytes) {
        return calls.row(api).occupiesDevice()
                .spans((frame, _) -> AddressRule.rows(AddressRule.times(frame.slot(3), elementBytes), frame.slot(4), frame.slot(1)))
                .checks(this::rows);
    }

    private void rows(CallFrame frame) {
        if (frame.slot(3) != 0) {
            moved.inRows(frame.slot(4));
        }
    }

    /** Parameters: targets, sources, sizes, count. */
    private void batch(CallFrame frame) throws RejectedException {
        for (long i = 0; i < frame.slot(3); i++) {
            long bytes = frame.required(2).get(WireTypes.U64, i * Long.BYTES);
            addresses.own(frame.required(0).get(WireTypes.U64, i * Long.BYTES), bytes);
            addresses.own(frame.required(1).get(WireTypes.U64, i * Long.BYTES), bytes);
        }
    }
}
