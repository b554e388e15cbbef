package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Modules and libraries: images in, names out. One owner thread. */
final class ModuleCalls {
    /** cuLibraryLoadData: BINARY_IS_PRESERVED and HOST_UNIVERSAL_FUNCTION... are about the client's memory. */
    private static final int LONGEST_NAME = 65_536;

    private final ClientState client;

    ModuleCalls(ClientState client) {
        this.client = client;
    }

    /** Parameters: module, image. */
    int load(CallFrame frame, ClientContext context) throws RejectedException {
        return image(frame, frame.plan().entry());
    }

    /** Parameters: module, image, count, options, values. */
    int loadEx(CallFrame frame, ClientContext context) throws RejectedException {
        JitOptions options = new JitOptions(frame, 2, 3, 4);
        int result = image(frame, frame.plan().entry());
        options.answer();
        return result;
    }

    /** Parameters: library, code, options, values, count, library options, their values, their count. */
    int library(CallFrame frame, ClientContext context) throws RejectedException {
        if (frame.slot(7) != 0) {
            throw CallFrame.malformed("options of a library");
        }
        JitOptions options = new JitOptions(frame, 4, 2, 3);
        int result = image(frame, DriverEntry.cuLibraryLoadData);
        options.answer();
        return result;
    }

    /**
     * Loads parameter 1. Of an image that was linked beforehand the driver gets the linked part: it does not copy a
     * wrapper with parts (cuLibraryLoadData answers 1 on driver 580 unless the program keeps them), and needs the parts
     * only where the linked one has no code for the device.
     */
    private int image(CallFrame frame, DriverEntry entry) throws RejectedException {
        MemorySegment image = frame.data(1);
        long bytes = frame.inBytes(1);
        if (image == null || bytes == 0) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "no image");
        }
        frame.slot(1, ImageCheck.address(image, bytes));
        int result = client.driver().call(entry, frame.slots());
        if (result == CudaResult.NO_BINARY_FOR_GPU && ImageCheck.hasParts(image, bytes)) {
            frame.slot(1, ImageCheck.wrapper(frame, image, bytes));
            result = client.driver().call(entry, frame.slots());
        }
        return result;
    }

    /** Parameters: name, handle. The driver answers with a pointer, the client gets the text. */
    int name(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment place = frame.room(Long.BYTES);
        MemorySegment wanted = frame.data(0);
        frame.slot(0, place.address());
        int result = client.driver().call(frame.plan().entry(), frame.slots());
        if (result == CudaResult.SUCCESS && wanted != null) {
            MemorySegment text = MemorySegment.ofAddress(place.get(WireTypes.U64, 0)).reinterpret(LONGEST_NAME);
            long length = 0;
            while (length + 1 < Math.min(frame.outBytes(0), LONGEST_NAME)
                    && text.get(ValueLayout.JAVA_BYTE, length) != 0) {
                length++;
            }
            wanted.fill((byte) 0);
            MemorySegment.copy(text, 0, wanted, 0, Math.min(length, wanted.byteSize()));
        }
        return result;
    }
}
