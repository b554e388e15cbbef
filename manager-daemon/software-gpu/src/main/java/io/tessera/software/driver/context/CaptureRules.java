package io.tessera.software.driver.context;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.graph.CudaGraph;
import io.tessera.software.driver.graph.GraphNode;
import java.util.Map;

/**
 * What may and may not be done while streams capture, with the error that the driver has for each. Everything here is
 * under the order lock of the context.
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
        Context context = stream.context();
        synchronized (context.order()) {
            DriverException.require(stream != context.legacy(), CudaError.STREAM_CAPTURE_UNSUPPORTED);
            DriverException.require(stream.capture() == null, CudaError.ILLEGAL_STATE);
            Capture capture = new Capture(stream, mode, target == null ? new CudaGraph() : target, target == null, first);
            stream.setCapture(capture);
            context.captureBegun(capture);
        }
    }

    /** Ends a capture and hands out its graph. */
    public static CudaGraph end(Stream stream) {
        Context context = stream.context();
        synchronized (context.order()) {
            Capture capture = stream.capture();
            DriverException.require(capture != null, CudaError.ILLEGAL_STATE);
            DriverException.require(capture.origin() == stream, CudaError.STREAM_CAPTURE_UNMATCHED);
            DriverException.require(capture.mode() == CaptureMode.RELAXED || capture.thread() == Thread.currentThread(),
                    CudaError.STREAM_CAPTURE_WRONG_THREAD);
            boolean joined = capture.joined();
            capture.streams().forEach(each -> each.setCapture(null));
            context.captureEnded(capture);
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
        synchronized (stream.context().order()) {
            DriverException.require(stream.capture().graph().nodes().containsAll(next.keySet()),
                    CudaError.INVALID_VALUE);
            stream.capture().setFrontier(stream, next);
        }
    }

    /** Lets a stream wait for a captured event: it takes part in that capture from now on. */
    static void join(Stream stream, Capture.Point point) {
        Capture capture = point.capture();
        DriverException.require(stream.context().capturing(capture), CudaError.INVALID_VALUE);
        DriverException.require(!capture.invalidated(), CudaError.STREAM_CAPTURE_INVALIDATED);
        if (stream == stream.context().legacy()) {
            capture.invalidate();
            throw new DriverException(CudaError.STREAM_CAPTURE_IMPLICIT);
        }
        if (stream.capture() != null && stream.capture() != capture) {
            capture.invalidate();
            stream.capture().invalidate();
            throw new DriverException(CudaError.STREAM_CAPTURE_MERGE);
        }
        stream.setCapture(capture);
        capture.join(stream, point);
    }

    /** The legacy stream cannot take work while a blocking stream captures: it would wait for what never runs. */
    static void checkImplicit(Stream stream) {
        Context context = stream.context();
        if (stream != context.legacy()) {
            return;
        }
        for (Capture capture : context.captures()) {
            if (capture.streams().stream().anyMatch(Stream::blocking)) {
                capture.invalidate();
                throw new DriverException(CudaError.STREAM_CAPTURE_IMPLICIT);
            }
        }
    }

    /** Nobody can wait for a stream that captures. */
    static void forbidWait(Stream stream) {
        if (stream.capture() != null) {
            stream.capture().invalidate();
            throw new DriverException(CudaError.STREAM_CAPTURE_UNSUPPORTED);
        }
        checkImplicit(stream);
    }

    /** Ends the entry if the stream captures: what it does cannot be recorded. */
    public static void forbidUnrecordable(Stream stream) {
        synchronized (stream.context().order()) {
            if (stream.capture() != null) {
                stream.capture().invalidate();
                throw new DriverException(CudaError.STREAM_CAPTURE_UNSUPPORTED);
            }
        }
    }

    /** Nobody can wait for a whole context while one of its streams captures. */
    static void forbidWaitForAll(Context context) {
        for (Capture capture : context.captures()) {
            capture.invalidate();
            throw new DriverException(CudaError.STREAM_CAPTURE_UNSUPPORTED);
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
            for (Capture capture : context.captures()) {
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
