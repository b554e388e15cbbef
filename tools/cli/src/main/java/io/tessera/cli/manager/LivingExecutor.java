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
 * An executor that answers on its socket for managers. It is asked there and nowhere else. Stateless and thread-safe.
 *
 * @param ordinal its device
 * @param socket  where it listens to managers
 */
record LivingExecutor(int ordinal, Path socket) {
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final byte[] STOP = "{\"stop\":{}}\n".getBytes(StandardCharsets.US_ASCII);

    /** Those that live in a runtime directory. */
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
            return false; // nobody listens there, or not to us
        }
    }

    /**
     * Tells it to end and waits for that: again where its connection ends and it does not. A manager that lives, but whose sockets
     * and pid file were removed, takes the connection for itself.
     *
     * @param pause how time passes
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
                    // what it says on its way is for managers
                }
                return null;
            });
            // Closing the channel, as leaving this block does, ends a thread that still waits in it.
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
