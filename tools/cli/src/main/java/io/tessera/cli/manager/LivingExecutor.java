package io.tessera.cli.manager;

import io.tessera.cli.context.PollPause;
import io.tessera.protocol.ExecutorSockets;
import io.tessera.protocol.segment.SegmentLayout;
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
 * A running executor that answers on its socket for managers, which is the only way to reach it. Stateless and thread-safe.
 *
 * @param ordinal its device
 * @param socket  its socket for managers
 */
record LivingExecutor(int ordinal, Path socket) {
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final byte[] STOP = "{\"stop\":{}}\n".getBytes(StandardCharsets.US_ASCII);

    /** Returns the running executors of a runtime directory. */
    static List<LivingExecutor> in(Path runtime) {
        List<LivingExecutor> living = new ArrayList<>();
        for (int ordinal = 0; ordinal < SegmentLayout.MAX_DEVICES; ordinal++) {
            LivingExecutor executor = new LivingExecutor(ordinal, ExecutorSockets.ofManagers(ExecutorSockets.ofClients(runtime, ordinal)));
            if (executor.answers()) {
                living.add(executor);
            }
        }
        return living;
    }

    private boolean answers() {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return channel.connect(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            return false; // no process listens there, or it refuses this user
        }
    }

    /**
     * Tells it to end, and waits for that. If the connection ends but the executor does not, it tries again: a running manager whose
     * sockets and pid file were removed takes over the connection.
     *
     * @param pause wait between two polls
     * @throws IOException if it has not ended by then
     */
    void end(Duration patience, PollPause pause) throws IOException, InterruptedException {
        for (long looks = patience.dividedBy(LOOK); looks > 0; looks--) {
            tell(patience);
            if (!answers()) {
                return;
            }
            pause.await(LOOK);
        }
        throw new IOException("executor " + ordinal + " still runs, or runs again, after " + patience.toSeconds()
                + " s. A manager may have lost its files and start it: look for io.tessera.manager.ManagerMain among the processes, end it with kill,"
                + " and ask again");
    }

    private void tell(Duration patience) throws IOException, InterruptedException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            FutureTask<Void> end = new FutureTask<>(() -> {
                channel.connect(UnixDomainSocketAddress.of(socket));
                channel.write(ByteBuffer.wrap(STOP));
                ByteBuffer ignored = ByteBuffer.allocate(64 << 10);
                while (channel.read(ignored.clear()) >= 0) {
                    // messages before its end are for managers
                }
                return null;
            });
            // The end of this block closes the channel, which ends a thread that still waits in it.
            Thread.ofPlatform().daemon().name("executor").start(end);
            end.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IOException("executor " + ordinal + " still runs after " + patience.toSeconds() + " s; its log may say why: "
                    + ExecutorSockets.log(ExecutorSockets.ofClients(socket.getParent(), ordinal)), e);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof IOException)) { // which is how an end may look, also one before we came
                throw new IOException("executor " + ordinal + " cannot be heard", e);
            }
        }
    }
}
