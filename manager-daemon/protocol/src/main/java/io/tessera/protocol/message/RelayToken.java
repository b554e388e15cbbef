package io.tessera.protocol.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The secret that a client shows to an executor, by which the executor recognises a client that the manager announced. Immutable; comparison takes
 * the same time for all values.
 */
public final class RelayToken {
    private static final SecureRandom RANDOM = new SecureRandom();

    private final byte[] bytes;

    private RelayToken(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Creates a random token. */
    public static RelayToken create() {
        byte[] bytes = new byte[RelayMessageLayout.TOKEN_BYTES];
        RANDOM.nextBytes(bytes);
        return new RelayToken(bytes);
    }

    /**
     * Returns the token in a line of the control channel.
     *
     * @throws IllegalArgumentException if the text is not as many hexadecimal digits as a token has
     */
    public static RelayToken ofHex(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        if (bytes.length != RelayMessageLayout.TOKEN_BYTES) {
            throw new IllegalArgumentException("a token has " + RelayMessageLayout.TOKEN_BYTES + " bytes");
        }
        return new RelayToken(bytes);
    }

    /** Reads it from a message. */
    static RelayToken read(MemorySegment packet, long offset) {
        return new RelayToken(packet.asSlice(offset, RelayMessageLayout.TOKEN_BYTES)
                .toArray(ValueLayout.JAVA_BYTE));
    }

    void write(MemorySegment to, long offset) {
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, to, offset, bytes.length);
    }

    /** Returns hexadecimal digits, for the control channel. */
    public String hex() {
        return HexFormat.of().formatHex(bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RelayToken token && MessageDigest.isEqual(bytes, token.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Never returns the secret, because this text appears in logs. */
    @Override
    public String toString() {
        return "token";
    }
}
