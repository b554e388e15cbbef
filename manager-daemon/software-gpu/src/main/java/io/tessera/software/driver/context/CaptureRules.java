package io.tessera.software.driver.context;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.GraphNode;
import java.util.Map;

/**
 * How captures begin and end, and which entries other than work of a stream may not be called meanwhile, with the driver's error for each. Takes the order lock
 * of the context.
 */
public final class CaptureRules {
    private static final ThreadLocal<CaptureMode> THREAD_MODE = ThreadLocal.withInitial(() -> CaptureMode.GLOBAL);

    private CaptureRules() {
    }

    /** Exchanges the calling thread's mode (cuThreadExchangeStreamCaptureMode). */
    public static CaptureMode exchangeThreadMode(CaptureMode next) {
        CaptureMode before = THREAD_MODE.get();
        THREAD_MODE.set(next);
        return before;
    }

    /** Begins a capture. */
    public static void begin(Stream stream, CaptureMode mode, CudaGraph target, Map<GraphNode, Long> first) {
        synchronized (stream.order()) {
            DriverException.require(!stream.legacy(), CudaError.STREAM_CAPTURE_UNSUPPORTED);
            DriverException.require(stream.capture() == null, CudaError.ILLEGAL_STATE);
            Capture capture = new Capture(stream.id(), stream.blocking(), mode, target == null ? new CudaGraph() : target, target == null, first);
            stream.setCapture(capture);
            stream.order().captures().add(capture);
        }
    }

    /** Ends a capture and hands out its graph. */
    public static CudaGraph end(Stream stream) {
        synchronized (stream.order()) {
            Capture capture = stream.capture();
            DriverException.require(capture != null, CudaError.ILLEGAL_STATE);
            DriverException.require(capture.origin() == stream.id(), CudaError.STREAM_CAPTURE_UNMATCHED);
            DriverException.require(capture.mode() == CaptureMode.RELAXED || capture.thread() == Thread.currentThread(),
                    CudaError.STREAM_CAPTURE_WRONG_THREAD);
            boolean joined = capture.joined();
            capture.end();
            stream.order().captures().remove(capture);
            CudaError error = capture.invalidated() ? CudaError.STREAM_CAPTURE_INVALIDATED
                    : joined ? null : CudaError.STREAM_CAPTURE_UNJOINED;
            if (error != null) {
                if (capture.ownsGraph()) {
                    capture.graph().destroy();
                }
                throw new DriverException(error);
            }
            return capture.graph();
        }
    }

    /** Sets what a capturing stream's next node waits for. */
    public static void setFrontier(Stream stream, Map<GraphNode, Long> next) {
        synchronized (stream.order()) {
            DriverException.require(stream.capture().graph().nodes().containsAll(next.keySet()),
                    CudaError.INVALID_VALUE);
            stream.capture().setFrontier(stream.id(), next);
        }
    }

    /** Ends the entry if the stream captures: what it does cannot be recorded. */
    public static void forbidUnrecordable(Stream stream) {
        synchronized (stream.order()) {
            if (stream.capture() != null) {
                stream.capture().invalidate();
                throw new DriverException(CudaError.STREAM_CAPTURE_UNSUPPORTED);
            }
        }
    }

    /**
     * Ends the entry if a capture guards against calls that might wait for the device, such as allocations.
     */
    public static void forbidUnsafe(Context context) {
        CaptureMode mine = THREAD_MODE.get();
        if (mine == CaptureMode.RELAXED) {
            return;
        }
        synchronized (context.order()) {
            for (Capture capture : context.order().captures()) {
                boolean ownThread = capture.thread() == Thread.currentThread();
                boolean guards = capture.mode() == CaptureMode.GLOBAL && (mine == CaptureMode.GLOBAL || ownThread)
                        || capture.mode() == CaptureMode.THREAD_LOCAL && ownThread;
                if (guards) {
                    capture.invalidate();
                    throw new DriverException(CudaError.STREAM_CAPTURE_UNSUPPORTED);
                }
            }
        }
    }
}
