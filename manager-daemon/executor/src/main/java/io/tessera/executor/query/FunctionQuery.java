package io.tessera.executor.query;

import static io.tessera.protocol.relay.RelayLayout.FUNCTION_INFO;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.device.CudaEnums.FunctionAttribute;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.FatalErrors;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.ClientKernels;
import io.tessera.executor.fence.KernelAttributes;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.print.ClientPrinting;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayHandle;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.MemorySegment;

/** Attributes and parameters of a kernel, in one answer. One owner thread. */
final class FunctionQuery {
    private static final long FUNCTION = offset(FUNCTION_INFO, "function");
    private static final long VALID = offset(FUNCTION_INFO, "valid");
    private static final long PARAMETER_BYTES = offset(FUNCTION_INFO, "parameter_bytes");
    private static final long PRINTS = offset(FUNCTION_INFO, "prints");
    private static final long PARAMETERS = offset(FUNCTION_INFO, "parameters");
    private static final long PARAMETER = offset(FUNCTION_INFO, "parameter");

    private final DriverCalls driver;
    private final DeviceContext device;
    private final ClientHandles handles;
    private final ClientFences fences;
    private final ClientPrinting printing;
    private int bytes;

    FunctionQuery(ClientExecution execution, ClientPrinting printing) {
        this.driver = execution.driver();
        this.device = execution.device();
        this.handles = execution.handles();
        this.fences = execution.fences();
        this.printing = printing;
    }

    int query(long clientHandle, int context, MemorySegment answer) throws RejectedException {
        boolean kernel = RelayHandle.type(clientHandle) == HandleKind.KERNEL.number();
        long value = handles.value(HandleKind.FUNCTION, clientHandle);
        if (value == HandleTable.NONE) {
            throw new RejectedException(CudaResult.INVALID_HANDLE, "no kernel of the client");
        }
        asked(clientHandle, value);
        answer.asSlice(0, FUNCTION_INFO.byteSize()).fill((byte) 0);
        KernelAttributes attributes = new KernelAttributes(driver, device.device());
        int valid = 0;
        for (int attribute = 0; attribute < RelayLayout.FUNCTION_ATTRIBUTES; attribute++) {
            int result = attributes.ask(value, kernel, attribute);
            if (FatalErrors.isFatal(result)) {
                return result;
            }
            if (result == CudaResult.SUCCESS) {
                answer.set(WireTypes.U32, 4L * attribute, driver.outInt(0));
                valid |= 1 << attribute;
            }
        }
        ClientKernels.Added added = added(clientHandle, value);
        lower(answer, FunctionAttribute.CONST_SIZE_BYTES, added.constantBytes());
        lower(answer, FunctionAttribute.NUM_REGS, added.registers());
        lower(answer, FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, added.sharedBytes());
        answer.set(WireTypes.U32, VALID, valid);
        answer.set(WireTypes.U64, FUNCTION, clientHandle);
        if (kernel && driver.call(DriverEntry.cuKernelGetFunction, driver.out(0), value) == CudaResult.SUCCESS) {
            long function = driver.outLong(0);
            long handle = handles.put(HandleKind.FUNCTION, function, clientHandle, context);
            answer.set(WireTypes.U64, FUNCTION, handle);
            got(clientHandle, value);
            got(handle, function);
        }
        parameters(kernel, value, answer);
        answer.set(WireTypes.U32, PRINTS, prints(clientHandle) ? 1 : 0);
        return CudaResult.SUCCESS;
    }

    private static void lower(MemorySegment answer, int attribute, long by) {
        long at = attribute * (long) Integer.BYTES;
        answer.set(WireTypes.U32, at, (int) Math.max(0, Integer.toUnsignedLong(answer.get(WireTypes.U32, at)) - by));
    }

    private ClientKernels.Added added(long clientHandle, long value) throws RejectedException {
        try {
            return fences.kernels().added(clientHandle, value);
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    private void asked(long clientHandle, long value) throws RejectedException {
        try {
            fences.kernels().asked(clientHandle, value);
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /**
     * Prepares a launch. Programs query a kernel before they launch other kernels that wait for it. So the queries that the launch would have to make are made
     * now, too.
     */
    private void got(long clientHandle, long value) throws RejectedException {
        try {
            fences.kernels().got(clientHandle, value);
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    private boolean prints(long clientHandle) {
        boolean kernel = RelayHandle.type(clientHandle) == HandleKind.KERNEL.number();
        long parent = handles.table(kernel ? HandleKind.KERNEL : HandleKind.FUNCTION).parent(clientHandle);
        if (RelayHandle.type(parent) == HandleKind.KERNEL.number()) {
            return prints(parent);
        }
        HandleKind owner = RelayHandle.type(parent) == HandleKind.LIBRARY.number() ? HandleKind.LIBRARY
                : HandleKind.MODULE;
        long module = handles.value(owner, parent);
        long library = owner == HandleKind.MODULE ? handles.table(owner).parent(parent) : 0;
        long owned = library == 0 ? module : handles.value(HandleKind.LIBRARY, library);
        boolean prints = printing.ask(owned);
        boolean reports = fences.reports(owned);
        if (reports) {
            printing.watch();
        }
        return prints || reports;
    }

    private void parameters(boolean kernel, long value, MemorySegment answer) {
        DriverEntry entry = kernel ? DriverEntry.cuKernelGetParamInfo : DriverEntry.cuFuncGetParamInfo;
        int count = 0;
        long end = 0;
        while (count < RelayLayout.PARAMETERS && driver.call(entry, value, count, driver.out(0), driver.out(1)) == 0) {
            long at = PARAMETER + (long) count * RelayLayout.PARAMETER.byteSize();
            answer.set(WireTypes.U32, at, (int) driver.outLong(0));
            answer.set(WireTypes.U32, at + 4, (int) driver.outLong(1));
            end = Math.max(end, driver.outLong(0) + driver.outLong(1));
            count++;
        }
        answer.set(WireTypes.U32, PARAMETER_BYTES, (int) end);
        answer.set(WireTypes.U32, PARAMETERS, count);
        bytes = (int) (PARAMETER + count * RelayLayout.PARAMETER.byteSize());
    }

    int bytes() {
        return bytes;
    }
}
