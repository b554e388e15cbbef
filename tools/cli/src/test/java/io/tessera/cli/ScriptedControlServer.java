package io.tessera.cli;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A control socket that answers the n-th connection's line with the n-th answer of its script, the last answer again and
 * again. An answer is sent as it stands, so it can be broken; {@link #SILENCE} is none at all.
 */
public final class ScriptedControlServer implements AutoCloseable {
    /** The connection stays open and nothing comes. */
    public static final String SILENCE = "\0silence";

    private final ServerSocketChannel listener;
    private final List<String> answers;
    private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    private final List<SocketChannel> silent = new ArrayList<>();
    private final Thread thread;

    /** Listens on a socket that must not exist yet. */
    public ScriptedControlServer(Path socket, String... answers) throws IOException {
        this.answers = List.of(answers);
        listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listener.bind(UnixDomainSocketAddress.of(socket));
        thread = Thread.ofPlatform().daemon().name("scripted-control").start(this::serve);
    }

    /** The request lines so far, without their ends. */
    public List<String> requests() {
        return List.copyOf(requests);
    }

    private void serve() {
        try {
            for (int i = 0;; i++) {
                answer(listener.accept(), answers.get(Math.min(i, answers.size() - 1)));
            }
        } catch (ClosedChannelException e) {
            // close() ends the loop.
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void answer(SocketChannel channel, String answer) throws IOException {
        StringBuilder line = new StringBuilder();
        ByteBuffer buffer = ByteBuffer.allocate(4096);
        while (line.indexOf("\n") < 0 && channel.read(buffer) >= 0) {
            buffer.flip();
            line.append(StandardCharsets.UTF_8.decode(buffer));
            buffer.clear();
        }
        requests.add(line.toString().strip());
        if (answer.equals(SILENCE)) {
            silent.add(channel);
            return;
        }
        ByteBuffer bytes = ByteBuffer.wrap(answer.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        channel.close();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        try {
            thread.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        for (SocketChannel channel : silent) {
            channel.close();
        }
    }
}
