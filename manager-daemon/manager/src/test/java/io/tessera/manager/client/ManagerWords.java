package io.tessera.manager.client;

import io.tessera.protocol.message.ExchangeEnd;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.ManagerMessageAdapter;
import io.tessera.protocol.message.ManagerMessageListener;
import io.tessera.protocol.message.RelayAnswer;
import io.tessera.protocol.message.SharingAnswer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** The manager's messages to a client, in words, in their order. One thread. */
public final class ManagerWords implements ManagerMessageListener {
    private final List<String> words = new ArrayList<>();

    /** Returns the words so far. */
    public List<String> words() {
        return words;
    }

    /** Puts a packet into words; it must be a valid message. */
    public void hear(MemorySegment packet, int bytes) {
        try {
            ManagerMessageAdapter.dispatch(packet, bytes, this);
        } catch (MalformedMessageException e) {
            throw new AssertionError("the manager sent what is no message", e);
        }
    }

    @Override
    public void onWelcome(long clientId, long segmentBytes) {
        words.add("welcome " + clientId);
    }

    @Override
    public void onRefused(int code, String reason) {
        words.add("refused " + code + ": " + reason);
    }

    @Override
    public void onDoorbell(int slot) {
        words.add("bell " + slot);
    }

    @Override
    public void onQuotaAnswer(int slot, long grantedBytes) {
        words.add("lease " + slot + " " + Long.toUnsignedString(grantedBytes));
    }

    @Override
    public void onQuotaTrim(int slot) {
        words.add("trim " + slot);
    }

    @Override
    public void onExchange(int slot, ExchangeEnd end) {
        words.add("exchange " + slot + " " + end);
    }

    @Override
    public void onSharing(SharingAnswer answer) {
        words.add("sharing by " + (answer.space() ? "space" : "time") + ": " + answer.reason());
    }

    @Override
    public void onShortage(int slot, String reason) {
        words.add("shortage " + slot + ": " + reason);
    }

    @Override
    public void onRelayAnswer(RelayAnswer answer) {
        words.add("relay " + answer.device() + " of " + answer.count() + " " + answer.reason());
    }
}
