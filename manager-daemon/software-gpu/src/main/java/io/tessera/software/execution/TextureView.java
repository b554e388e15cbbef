package io.tessera.software.execution;

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
 */
public record TextureView(long address, int width, int height, int depth, long pitchBytes, long sliceBytes,
        int channels, int channelBits, ChannelKind kind, Sampling sampling) {
    /** What a channel holds. */
    public enum ChannelKind {
        SIGNED, UNSIGNED, FLOAT
    }

    /** What a coordinate outside means (CUaddress_mode). Wrap and mirror need normalized coordinates. */
    public enum AddressMode {
        WRAP, CLAMP, MIRROR, BORDER
    }

    /**
     * How a texture is read.
     *
     * @param mode                  the same in every dimension
     * @param linear                whether neighbours are blended; needs float results
     * @param normalizedCoordinates whether coordinates run from 0 to 1
     * @param normalizedValues      whether integers are read as floats from 0 (or -1) to 1
     */
    public record Sampling(AddressMode mode, boolean linear, boolean normalizedCoordinates,
            boolean normalizedValues) {
    }

    /** Bytes of an element. */
    public int elementBytes() {
        return channels * channelBits / 8;
    }
}
