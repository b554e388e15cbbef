package io.tessera.executor.swap;

import java.util.Arrays;

/**
 * The known content of a piece of device memory, in parts of {@link HostFrames#FRAME_BYTES}: which parts are zero, of which parts the host has a copy, and the
 * hashes of these copies. While the piece is off the device, this is its content. While it is on the device, copies are kept so that unchanged parts need not
 * be copied again. Owned by one thread, except for {@link #forget}, which {@link HostFrames} calls with its lock held.
 */
public final class PieceContent implements HostFrames.Copies {
    /** Number of words of a hash. */
    static final int HASH = ContentKernel.HASH;

    private final long[] frames;
    private final long[] hashes;
    private final boolean[] hashed;

    /** Creates an unknown content of this many parts. */
    public PieceContent(int parts) {
        this.frames = new long[parts];
        this.hashes = new long[parts * HASH];
        this.hashed = new boolean[parts];
    }

    /** Returns the address of the host's copy of a part; 0: there is none, and if the piece is off the device, the part is zero. */
    public long frame(int part) {
        return frames[part];
    }

    /** Returns whether the host's copy of a part has the hash at an index of an array. */
    public boolean isUnchanged(int part, long[] found, int at) {
        return frames[part] != 0 && hashed[part]
                && Arrays.equals(hashes, part * HASH, part * HASH + HASH, found, at, at + HASH);
    }

    /** Records that the part is zero: its copy, if there was one, is given back. */
    public void zero(int part, HostFrames host) {
        drop(part, host);
    }

    /** Records that a part will be copied to a frame. Its hash is at an index of the array; a null array: it has none. */
    public void copied(int part, long frame, long[] found, int at) {
        frames[part] = frame;
        hashed[part] = found != null;
        if (found != null) {
            System.arraycopy(found, at, hashes, part * HASH, HASH);
        }
    }

    /** Records that the piece is on the device again: copies with a hash are kept as long as the host has room, others are given back. */
    public void keep(HostFrames host) {
        boolean any = false;
        for (int part = 0; part < frames.length; part++) {
            if (!hashed[part]) {
                drop(part, host);
            }
            any |= frames[part] != 0;
        }
        if (any) {
            host.keeps(this);
        }
    }

    /** Holds the copies, which are not discarded meanwhile: the piece is about to leave, or has left. */
    public void hold(HostFrames host) {
        host.needs(this);
    }

    @Override
    public void forget(HostFrames host) {
        for (int part = 0; part < frames.length; part++) {
            drop(part, host);
        }
    }

    private void drop(int part, HostFrames host) {
        if (frames[part] != 0) {
            host.give(frames[part]);
        }
        frames[part] = 0;
        hashed[part] = false;
    }
}
