package io.tessera.protocol.message;

/** What the manager says, after {@link ManagerMessageAdapter} checked it. Slots are valid device slots. */
public interface ManagerMessageListener {
    /** The client is admitted; the packet carries the segment's descriptor. */
    void onWelcome(long clientId, long segmentBytes);

    /** It is not; the connection ends. The code is one of {@link RefusalCode#code} or a newer one. */
    void onRefused(int code, String reason);

    /** Words of a device changed. */
    void onDoorbell(int slot);

    /** The new lease; unsigned. */
    void onQuotaAnswer(int slot, long grantedBytes);

    /** Give back what you do not use. */
    void onQuotaTrim(int slot);

    /** An end of a device's queue of handed memory; the packet carries its descriptor. */
    void onExchange(int slot, ExchangeEnd end);

    /** The way of sharing that it is to take; the connection ends. */
    void onSharing(SharingAnswer answer);

    /** One of the executors that serve it, or that there is none. */
    void onRelayAnswer(RelayAnswer answer);
}
