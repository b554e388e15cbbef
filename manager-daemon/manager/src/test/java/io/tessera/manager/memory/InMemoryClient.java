package io.tessera.manager.memory;

import io.tessera.manager.client.ManagerWords;
import io.tessera.os.PeerCredentials;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.message.MessageLayout;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.ResidencyBlock;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.ToIntFunction;

/** The other end of a connection in memory, and its process. */
public final class InMemoryClient {
    final PeerCredentials credentials;
    final Deque<byte[]> toManager = new ArrayDeque<>();
    final Deque<byte[]> toPeer = new ArrayDeque<>();
    /** Maximum number of packets, or chunks of a stream, on the way to the peer. */
    public int room = Integer.MAX_VALUE;
    boolean peerClosed;
    boolean managerClosed;
    boolean dead;
    MemorySegment segment;
    /** Queues of handed memory of which it got an end, in the order of the ends. */
    public final List<InMemoryClient> given = new ArrayList<>();
    /** Signals that the process got. */
    public final List<Integer> signals = new ArrayList<>();

    InMemoryClient(PeerCredentials credentials) {
        this.credentials = credentials;
    }

    /** Sends a message. */
    public InMemoryClient send(ToIntFunction<MemorySegment> encoder) {
        MemorySegment packet = MemorySegment.ofArray(new long[MessageLayout.MAX_BYTES / 8]);
        int bytes = encoder.applyAsInt(packet);
        return sendRaw(packet.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Returns the number of its packets that were not received. */
    public int waiting() {
        return toManager.size();
    }

    /** Sends bytes as they are. */
    public InMemoryClient sendRaw(byte[] bytes) {
        toManager.add(bytes);
        return this;
    }

    /** Says HELLO. */
    public InMemoryClient hello(String tenant, long limitBytes) {
        return hello(tenant, limitBytes, MemoryPlan.PLAIN);
    }

    /** Says HELLO with a plan. */
    public InMemoryClient hello(String tenant, long limitBytes, MemoryPlan plan) {
        return send(p -> MessageEncoder.hello(p,
                new Hello(credentials.pid(), plan, 5, limitBytes, tenant, "train.py")));
    }

    /** Announces a device of 64 GiB. */
    public InMemoryClient device(int slot, DeviceUuid uuid) {
        return send(p -> MessageEncoder.device(p,
                new DeviceAnnouncement(slot, uuid, 64L << 30, slot, "Scripted GPU")));
    }

    /** Rings. */
    public InMemoryClient ring(int slot) {
        return send(p -> MessageEncoder.doorbell(p, slot));
    }

    /** Returns the manager's messages since the last call, in words. */
    public List<String> heard() {
        ManagerWords said = new ManagerWords();
        byte[] bytes;
        while ((bytes = toPeer.poll()) != null) {
            MemorySegment packet = MemorySegment.ofArray(new long[MessageLayout.MAX_BYTES / 8]);
            MemorySegment.copy(bytes, 0, packet, ValueLayout.JAVA_BYTE, 0, bytes.length);
            said.hear(packet, bytes.length);
        }
        if (managerClosed) {
            said.words().add("closed");
        }
        return said.words();
    }

    /** Returns the text that came over a stream since the last call. */
    public String heardText() {
        StringBuilder text = new StringBuilder();
        byte[] bytes;
        while ((bytes = toPeer.poll()) != null) {
            text.append(new String(bytes, StandardCharsets.UTF_8));
        }
        return text.toString();
    }

    /** Returns whether the manager has closed the connection. */
    public boolean isClosedByManager() {
        return managerClosed;
    }

    /** Returns its words of a device, in the segment that came with WELCOME. */
    public DeviceBlock block(int slot) {
        return DeviceBlock.of(segment, slot);
    }

    /** Returns its words about its memory on the device. */
    public ResidencyBlock residency(int slot) {
        return ResidencyBlock.of(segment, slot);
    }

    /** Returns the segment that came with WELCOME. */
    public MemorySegment segment() {
        return segment;
    }

    /** Ends the connection; the process continues. */
    public void close() {
        peerClosed = true;
    }

    /** Ends the process, and the connection with it. */
    public void die() {
        peerClosed = true;
        dead = true;
    }

    /** Ends the process, while a child of it still holds the connection. */
    public void dieLeavingTheConnection() {
        dead = true;
    }
}
