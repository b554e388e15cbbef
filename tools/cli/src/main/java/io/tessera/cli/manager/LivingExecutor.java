package io.tessera.cli.manager;

import io.tessera.protocol.ExecutorSockets;
import io.tessera.protocol.SegmentLayout;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * An executor that answers on its socket for managers. It is asked there and nowhere else. Stateless and thread-safe.
 *
 * @param ordinal its device
 * @param socket  where it listens to managers
 */
record LivingExecutor(int ordinal, Path socket) {
    private static final byte[] STOP = "{\"stop\":{}}\n".getBytes(StandardCharsets.US_ASCII);

    /** Those that live in a runtime directory. */
    static List<LivingExecutor> in(Path runtime) {
        List<LivingExecutor> living = new ArrayList<>();
        for (int ordinal = 0; ordinal < SegmentLayout.MAX_DEVICES; ordinal++) {
            Path socket = ExecutorSockets.ofManagers(ExecutorSockets.ofClients(runtime, ordinal));
            try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                channel.connect(UnixDomainSocketAddress.of(socket));
                living.add(new LivingExecutor(ordinal, socket));
            } catch (IOException e) {
                continue; // nobody listens there, or not to us
            }
        }
        return living;
    }

    /**
     * Tells it to end and waits for that.
     *
     * @throws IOException if it has not ended by then
     */
    void end(Duration patience) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            channel.write(ByteBuffer.wrap(STOP));
            FutureTask<Void> end = new FutureTask<>(() -> {
                ByteBuffer ignored = ByteBuffer.allocate(64 << 10);
                while (channel.read(ignored.clear()) >= 0) {
                    // what it says on its way is for managers
                }
                return null;
            });
            // Closing the channel, as leaving this block does, ends a thread that still waits in it.
            Thread.ofPlatform().daemon().name("executor").start(end);
            end.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IOException("executor " + ordinal + " still runs after " + patience.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof IOException)) { // which is how an end may look
                throw new IOException("executor " + ordinal + " cannot be heard", e);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
