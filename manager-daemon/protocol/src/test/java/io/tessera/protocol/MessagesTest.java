package io.tessera.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.protocol.message.ClientMessageAdapter;
import io.tessera.protocol.message.ClientMessageListener;
import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.message.ExchangeEnd;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.ManagerMessageAdapter;
import io.tessera.protocol.message.ManagerMessageListener;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.message.MessageLayout;
import io.tessera.protocol.message.RefusalCode;
import io.tessera.protocol.message.RelayAnswer;
import io.tessera.protocol.message.RelayMessageAdapter;
import io.tessera.protocol.message.RelayMessageEncoder;
import io.tessera.protocol.message.RelayMessageListener;
import io.tessera.protocol.message.RelayPinned;
import io.tessera.protocol.message.RelayToken;
import io.tessera.protocol.message.SharingAnswer;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Messages arrive unchanged, and invalid packets are refused. */
class MessagesTest {
    private static final DeviceUuid UUID = new DeviceUuid(0x0123456789abcdefL, 0xfedcba9876543210L);

    private final MemorySegment packet = MemorySegment.ofArray(new long[(MessageLayout.MAX_BYTES + 8) / 8]);
    private final Recorder heard = new Recorder();

    /** Records messages from either side. */
    private static final class Recorder implements ClientMessageListener, ManagerMessageListener {
        final List<String> calls = new ArrayList<>();

        @Override
        public void onHello(Hello hello) {
            calls.add(hello.toString());
        }

        @Override
        public void onDevice(DeviceAnnouncement device) {
            calls.add(device.toString());
        }

        @Override
        public void onDoorbell(int slot) {
            calls.add("bell " + slot);
        }

        @Override
        public void onQuotaAsk(int slot, long bytes) {
            calls.add("ask " + slot + " " + Long.toUnsignedString(bytes));
        }

        @Override
        public void onQuotaReturn(int slot, long grantedBytes) {
            calls.add("return " + slot + " " + Long.toUnsignedString(grantedBytes));
        }

        @Override
        public void onWelcome(long clientId, long segmentBytes) {
            calls.add("welcome " + clientId + " " + segmentBytes);
        }

        @Override
        public void onRefused(int code, String reason) {
            calls.add("refused " + code + " " + reason);
        }

        @Override
        public void onQuotaAnswer(int slot, long grantedBytes) {
            calls.add("answer " + slot + " " + Long.toUnsignedString(grantedBytes));
        }

        @Override
        public void onQuotaTrim(int slot) {
            calls.add("trim " + slot);
        }

        @Override
        public void onExchange(int slot, ExchangeEnd end) {
            calls.add("exchange " + slot + " " + end);
        }

        @Override
        public void onSharingAsk(String tenant) {
            calls.add("sharing? " + tenant);
        }

        @Override
        public void onSharing(SharingAnswer answer) {
            calls.add(answer.toString());
        }

        @Override
        public void onShortage(int slot, String reason) {
            calls.add("shortage " + slot + " " + reason);
        }

        @Override
        public void onRelayAsk(FenceWish wish) {
            calls.add("relay? " + wish);
        }

        @Override
        public void onRelayAnswer(RelayAnswer answer) {
            calls.add(answer.toString());
        }
    }

    @Test
    void whatAClientSaysArrives() throws Exception {
        Hello hello = new Hello(42, MemoryPlan.MANAGED, 99, -1L, "tenant-ä", "python train.py");
        DeviceAnnouncement device = new DeviceAnnouncement(15, UUID, 143L << 30, 3, "Scripted GPU");
        dispatchClient(MessageEncoder.hello(packet, hello));
        dispatchClient(MessageEncoder.device(packet, device));
        dispatchClient(MessageEncoder.doorbell(packet, 7));
        dispatchClient(MessageEncoder.quotaAsk(packet, 1, 5));
        dispatchClient(MessageEncoder.quotaReturn(packet, 2, -1L));
        dispatchClient(MessageEncoder.sharingAsk(packet, "tenant-ä"));
        assertEquals(List.of(hello.toString(), device.toString(), "bell 7", "ask 1 5",
                "return 2 18446744073709551615", "sharing? tenant-ä"), heard.calls);
    }

    @Test
    void whatTheManagerSaysArrives() throws Exception {
        dispatchManager(MessageEncoder.welcome(packet, 9, SegmentLayout.SEGMENT_BYTES));
        dispatchManager(MessageEncoder.refused(packet, RefusalCode.FULL, "1024 clients are there"));
        dispatchManager(MessageEncoder.doorbell(packet, 0));
        dispatchManager(MessageEncoder.quotaAnswer(packet, 1, 77));
        dispatchManager(MessageEncoder.quotaTrim(packet, 2));
        dispatchManager(MessageEncoder.exchange(packet, 3, ExchangeEnd.TAKE));
        SharingAnswer sharing = new SharingAnswer(true, "a program shares by space");
        dispatchManager(MessageEncoder.sharing(packet, sharing));
        dispatchManager(MessageEncoder.shortage(packet, 4, "client 3 (ä) " + "is to give up memory ".repeat(20)));
        assertEquals(List.of("welcome 9 131072", "refused 5 1024 clients are there", "bell 0", "answer 1 77",
                "trim 2", "exchange 3 TAKE", sharing.toString(), "shortage 4 client 3 (ä) " + "is to give up memory ".repeat(20).substring(0, 217)),
                heard.calls);
        int bytes = MessageEncoder.exchange(packet, 3, ExchangeEnd.GIVE);
        packet.set(ValueLayout.JAVA_INT, MessageLayout.HEADER.byteSize(), 2);
        assertThrows(MalformedMessageException.class, () -> dispatchManager(bytes), "there is no third end");
    }

    /** Arithmetic with a device's size must not overflow. */
    @Test
    void devicesOfImpossibleSizesAreRefused() throws Exception {
        dispatchClient(MessageEncoder.device(packet, new DeviceAnnouncement(0, UUID, DeviceAnnouncement.MOST_BYTES, 0, "d")));
        for (long bytes : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, DeviceAnnouncement.MOST_BYTES + 1}) {
            int size = MessageEncoder.device(packet, new DeviceAnnouncement(0, UUID, bytes, 0, "d"));
            assertThrows(MalformedMessageException.class, () -> dispatchClient(size), bytes + " bytes");
        }
        assertEquals(1, heard.calls.size(), heard.calls::toString);
    }

    @Test
    void whatTheRelaySaysArrives() throws Exception {
        RelayToken token = RelayToken.create();
        RelayAnswer answer = new RelayAnswer(1, 2, true, UUID, token, "/run/tessera/executor-1.sock", "");
        dispatchClient(RelayMessageEncoder.ask(packet, new FenceWish(Optional.of(FenceChoice.CHECK),
                Optional.of(UnfencedPolicy.TRUSTED), true, 7)));
        dispatchManager(RelayMessageEncoder.answer(packet, answer));
        dispatchManager(RelayMessageEncoder.answer(packet, RelayAnswer.none("no device")));
        assertEquals(List.of("relay? FenceWish[fence=Optional[CHECK], unfenced=Optional[TRUSTED], fenceAlone=true, "
                + "kernelTimeoutS=7]", answer.toString(), RelayAnswer.none("no device").toString()), heard.calls);
        List<Object> atExecutor = new ArrayList<>();
        RelayMessageListener executor = new RelayMessageListener() {
            @Override
            public void onHello(RelayToken shown) {
                atExecutor.add(shown);
            }

            @Override
            public void onPin(long bytes, long notBelow) {
                atExecutor.add(bytes + " " + notBelow);
            }

            @Override
            public void onImage(long offset, long bytes) {
                atExecutor.add("image " + offset + " " + bytes);
            }
        };
        RelayMessageAdapter.fromClient(packet, RelayMessageEncoder.hello(packet, token), executor);
        RelayMessageAdapter.fromClient(packet, RelayMessageEncoder.pin(packet, 4096, 1L << 45), executor);
        RelayMessageAdapter.fromClient(packet, RelayMessageEncoder.image(packet, 4096, 1L << 30), executor);
        assertEquals(List.of(token, "4096 " + (1L << 45), "image 4096 " + (1L << 30)), atExecutor);
        assertEquals(new RelayMessageAdapter.ImageTaken(5, 2),
                RelayMessageAdapter.fromExecutor(packet, RelayMessageEncoder.imageTaken(packet, 5, 2)));
        RelayPinned pinned = new RelayPinned(3, 1L << 45, 8192, 2);
        assertEquals(new RelayMessageAdapter.Pinned(pinned),
                RelayMessageAdapter.fromExecutor(packet, RelayMessageEncoder.pinned(packet, pinned)));
        assertEquals(new RelayMessageAdapter.Welcome(7, 99),
                RelayMessageAdapter.fromExecutor(packet, RelayMessageEncoder.welcome(packet, 7, 99)));
        heard.calls.clear();
        assertRefused(RefusalCode.MALFORMED, RelayMessageEncoder.pin(packet, 1, 1));
    }

    @Test
    void textsAreCutBetweenCharactersAndCleaned() throws Exception {
        String tooLong = "x".repeat(62) + "ä" + "y";
        dispatchClient(MessageEncoder.hello(packet,
                new Hello(1, MemoryPlan.PLAIN, 0, 0, tooLong, "\u001b[31mred\u202e\n")));
        assertEquals(new Hello(1, MemoryPlan.PLAIN, 0, 0, "x".repeat(62), "?[31mred??").toString(),
                heard.calls.getFirst());
    }

    @Test
    void anotherVersionIsNamedEvenIfTypeAndLengthAreUnknown() {
        int bytes = MessageEncoder.hello(packet, new Hello(1, MemoryPlan.PLAIN, 0, 0, "", ""));
        packet.set(ValueLayout.JAVA_SHORT, 4, (short) 200);
        packet.set(ValueLayout.JAVA_SHORT, 6, (short) 2);
        assertRefused(RefusalCode.VERSION, bytes);
        assertRefused(RefusalCode.VERSION, 17);
    }

    @Test
    void wrongMagicTypeLengthDeviceAndDirectionAreMalformed() {
        int bytes = MessageEncoder.doorbell(packet, 3);
        assertRefused(RefusalCode.MALFORMED, bytes - 1);
        assertRefused(RefusalCode.MALFORMED, bytes + 1);
        assertRefused(RefusalCode.MALFORMED, 0);
        packet.set(ValueLayout.JAVA_INT, 0, 1);
        assertRefused(RefusalCode.MALFORMED, bytes);
        MessageEncoder.doorbell(packet, SegmentLayout.MAX_DEVICES);
        assertRefused(RefusalCode.MALFORMED, bytes);
        MessageEncoder.doorbell(packet, -1);
        assertRefused(RefusalCode.MALFORMED, bytes);
        MessageEncoder.doorbell(packet, 0);
        packet.set(ValueLayout.JAVA_SHORT, 4, (short) 0);
        assertRefused(RefusalCode.MALFORMED, bytes);
        assertRefused(RefusalCode.MALFORMED, MessageEncoder.quotaTrim(packet, 1));
        assertRefused(RefusalCode.MALFORMED, MessageEncoder.exchange(packet, 1, ExchangeEnd.GIVE));
        int device = MessageEncoder.device(packet, new DeviceAnnouncement(1, UUID, 0, 0, ""));
        assertRefused(RefusalCode.MALFORMED, device);
        device = MessageEncoder.device(packet, new DeviceAnnouncement(1, new DeviceUuid(0, 0), 1, 0, ""));
        assertRefused(RefusalCode.MALFORMED, device);
    }

    @Test
    void randomPacketsAreHeardOrRefusedAndNeverFailOtherwise() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int heardOfMutations = 0;
        for (int round = 0; round < 50_000; round++) {
            int bytes = switch (random.nextInt(4)) {
                case 0 -> MessageEncoder.hello(packet, new Hello(1, MemoryPlan.PLAIN, 2, 3, "t", "c"));
                case 1 -> MessageEncoder.device(packet, new DeviceAnnouncement(0, UUID, 1, 0, "n"));
                case 2 -> MessageEncoder.quotaAsk(packet, 3, 4);
                default -> MessageEncoder.doorbell(packet, 5);
            };
            for (int flips = random.nextInt(4); flips > 0; flips--) {
                packet.set(ValueLayout.JAVA_BYTE, random.nextInt(bytes), (byte) random.nextInt());
            }
            int length = random.nextInt(8) == 0 ? random.nextInt(MessageLayout.MAX_BYTES + 1) : bytes;
            int before = heard.calls.size();
            try {
                dispatchClient(length);
                assertEquals(before + 1, heard.calls.size(), "seed " + seed);
                heardOfMutations++;
            } catch (MalformedMessageException expected) {
                assertEquals(before, heard.calls.size(), "heard of a refused packet, seed " + seed);
                assertTrue(expected.getMessage().length() > 10, "seed " + seed);
            } catch (RuntimeException unexpected) {
                throw new AssertionError("seed " + seed + ", round " + round, unexpected);
            }
        }
        assertTrue(heardOfMutations > 1000 && heardOfMutations < 49_000, heardOfMutations + ", seed " + seed);
    }

    private void dispatchClient(int length) throws MalformedMessageException {
        ClientMessageAdapter.dispatch(packet, length, heard);
    }

    private void dispatchManager(int length) throws MalformedMessageException {
        ManagerMessageAdapter.dispatch(packet, length, heard);
    }

    private void assertRefused(RefusalCode code, int length) {
        MalformedMessageException refusal = assertThrows(MalformedMessageException.class, () -> dispatchClient(length));
        assertEquals(code, refusal.code(), refusal.getMessage());
        assertTrue(heard.calls.isEmpty());
    }
}
