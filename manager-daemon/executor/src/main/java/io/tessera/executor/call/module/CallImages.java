package io.tessera.executor.call.module;

import io.tessera.device.CudaResult;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.image.ClientImages;
import io.tessera.executor.image.ImageOffers;
import io.tessera.executor.image.ImageStore;
import io.tessera.guardian.image.ImageKind;
import io.tessera.os.LinuxException;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Locates the image of a call: in the call's data, or in a file that the client handed over (RELAY.md, section 8). */
final class CallImages {
    private static final long MAGIC = SegmentLayout.offset(RelayLayout.IMAGE_REFERENCE, "magic");
    private static final long NUMBER = SegmentLayout.offset(RelayLayout.IMAGE_REFERENCE, "number");
    private static final Logger LOG = LoggerFactory.getLogger(CallImages.class);

    private final ClientFences fences;
    private final ImageOffers offers;
    private final ImageStore store;

    CallImages(ClientFences fences, ClientImages images) {
        this.fences = fences;
        this.offers = images.offers();
        this.store = images.store();
    }

    /**
     * Returns the image of a call, checked to be whole. Sets the parameter to its address for the driver, which is valid as long as the result is reachable;
     * also makes sure that the call has a place for the driver's handle.
     *
     * @throws RejectedException       if there is none or it is not whole
     * @throws ProgramRefusedException if it cannot be kept, or its file cannot be read
     */
    ProgramSource source(CallFrame frame, int parameter) throws RejectedException, ProgramRefusedException {
        MemorySegment data = frame.data(parameter);
        long bytes = frame.inBytes(parameter);
        if (data == null || bytes == 0) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "no image");
        }
        frame.want(0, Long.BYTES);
        if (bytes == RelayLayout.IMAGE_REFERENCE.byteSize() && data.get(WireTypes.U32, MAGIC) == RelayLayout.IMAGE_MAGIC) {
            ProgramSource source = ofFile(data.get(WireTypes.U64, NUMBER));
            MemorySegment image = source.main().bytes();
            frame.slot(parameter, ImageCheck.address(frame, image, image.byteSize()));
            return source;
        }
        frame.slot(parameter, ImageCheck.address(frame, data, bytes));
        fences.room(bytes);
        return ProgramSource.of(data.asSlice(0, bytes));
    }

    private ProgramSource ofFile(long number) throws RejectedException, ProgramRefusedException {
        ImageOffers.Offer offer = offers.take(number);
        if (offer == null) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "no image of number " + number);
        }
        ProgramSource source = null;
        try {
            source = store.take(offer);
        } catch (LinuxException e) {
            LOG.info("an image of {} bytes cannot be read from its file: {}", offer.bytes(), e.getMessage());
        }
        if (source == null) {
            throw new ProgramRefusedException(CudaResult.FILE_NOT_FOUND, "no such image in the file"); // the client sends the image itself
        }
        ImageKind kind = source.main().kind();
        if (kind != ImageKind.FAT_BINARY && kind != ImageKind.CUBIN) {
            throw new RejectedException(CudaResult.INVALID_IMAGE, "an image in a file that is " + kind);
        }
        return source;
    }
}
