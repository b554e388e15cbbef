package io.tessera.software.texture;

import java.util.List;

/**
 * A texture or surface object. Memory lies in rows: pitch and slice are in bytes; a layered image has its layers as
 * slices. The memory stays valid as long as the object does.
 *
 * @param address     real address of the first element
 * @param width       elements of a row
 * @param height      rows; 1 in one dimension
 * @param depth       slices or layers; 1 where there is one
 * @param pitchBytes  distance of rows
 * @param sliceBytes  distance of slices
 * @param channels    1, 2 or 4
 * @param channelBits 8, 16 or 32
 * @param kind        what a channel holds
 * @param sampling    how a texture is read; surfaces ignore it
 * @param mipmap      the smaller levels behind this one; null: there is this alone
 */
public record TextureView(long address, int width, int height, int depth, long pitchBytes, long sliceBytes,
        int channels, int channelBits, ChannelKind kind, Sampling sampling, Mipmap mipmap) {
    /** The view of a module's reference for kernels while nothing is bound to it: reads give zeros, writes are dropped. */
    public static final TextureView UNBOUND = new TextureView(0, 0, 0, 0, 0, 0, 1, Integer.SIZE, ChannelKind.UNSIGNED, null);

    /** Creates a view of one level. */
    public TextureView(long address, int width, int height, int depth, long pitchBytes, long sliceBytes, int channels,
            int channelBits, ChannelKind kind, Sampling sampling) {
        this(address, width, height, depth, pitchBytes, sliceBytes, channels, channelBits, kind, sampling, null);
    }

    /** Returns the same image as the finest level of a mipmap. */
    public TextureView with(Mipmap levels) {
        return new TextureView(address, width, height, depth, pitchBytes, sliceBytes, channels, channelBits, kind,
                sampling, levels);
    }

    /** Returns how many levels there are. */
    public int levels() {
        return mipmap == null ? 1 : 1 + mipmap.coarser().size();
    }

    /** A level, 0 being this one; beyond the last it is the last. */
    public TextureView level(int number) {
        return number <= 0 || mipmap == null ? this
                : mipmap.coarser().get(Math.min(number, mipmap.coarser().size()) - 1);
    }

    /** Contents of a channel. */
    public enum ChannelKind {
        SIGNED, UNSIGNED, FLOAT
    }

    /** Treatment of coordinates outside of the image (CUaddress_mode). Wrap and mirror need normalized coordinates. */
    public enum AddressMode {
        WRAP, CLAMP, MIRROR, BORDER
    }

    /**
     * Sampling parameters of a texture.
     *
     * @param mode                  the same in every dimension
     * @param linear                whether neighbours are blended; needs float results
     * @param normalizedCoordinates whether coordinates run from 0 to 1
     * @param normalizedValues      whether integers are read as floats from 0 (or -1) to 1
     */
    public record Sampling(AddressMode mode, boolean linear, boolean normalizedCoordinates,
            boolean normalizedValues) {
    }

    /**
     * Coarser versions of an image, each half as large in every dimension, and the choice of a level.
     *
     * @param coarser from the finest on
     * @param blended whether two levels are blended; needs float results
     * @param bias    number that is added to the level of detail that a kernel requests
     * @param least   the finest level of detail
     * @param most    the coarsest one
     */
    public record Mipmap(List<TextureView> coarser, boolean blended, float bias, float least, float most) {
        /** Copies the list. */
        public Mipmap {
            coarser = List.copyOf(coarser);
        }
    }

    /** Bytes of an element. */
    public int elementBytes() {
        return channels * channelBits / 8;
    }
}
