package io.tessera.software.texture;

import io.tessera.software.memory.RealMemory;
import io.tessera.software.texture.TextureView.AddressMode;
import io.tessera.software.texture.TextureView.ChannelKind;

/**
 * Reads textures: addressing and filtering as the CUDA C++ Programming Guide, "Texture Fetching", describes them.
 * Stateless.
 */
public final class TextureSampler {
    /** Fraction bits of the weights of linear filtering: "9-bit fixed point format with 8 bits of fractional value". */
    private static final float WEIGHT_STEPS = 256;
    private static final int CHANNELS = 4;

    private TextureSampler() {
    }

    /**
     * Reads by float coordinates.
     *
     * @param at         one coordinate per dimension that is sampled
     * @param layer      slice of a layered image, or 0
     * @return four channels as raw bits: floats if the texture gives floats, else 32-bit integers
     */
    public static int[] sample(TextureView view, float[] at, int layer) {
        float[] place = new float[3];
        int[] extents = {view.width(), view.height(), view.depth()};
        for (int d = 0; d < at.length; d++) {
            place[d] = view.sampling().normalizedCoordinates() ? normalized(view, at[d]) * extents[d] : at[d];
        }
        if (!view.sampling().linear()) {
            return texel(view, floor(place[0]), at.length > 1 ? floor(place[1]) : 0,
                    at.length > 2 ? floor(place[2]) : layer);
        }
        return blend(view, place, at.length, layer);
    }

    /**
     * Reads a level of detail by float coordinates, as {@link #sample(TextureView, float[], int)}.
     *
     * @param detail 0 is the finest level; between two levels they are blended, or the nearer one is taken
     */
    public static int[] sample(TextureView view, float[] at, int layer, float detail) {
        TextureView.Mipmap mipmap = view.mipmap();
        if (mipmap == null) {
            return sample(view, at, layer);
        }
        float asked = detail + mipmap.bias();
        float level = Math.clamp(Float.isNaN(asked) ? 0 : asked, mipmap.least(), Math.max(mipmap.least(), mipmap.most()));
        level = Math.clamp(level, 0, view.levels() - 1f);
        if (!mipmap.blended()) {
            return sample(view.level(floor(level + 0.5f)), at, layer);
        }
        int finer = floor(level);
        float weight = Math.round((level - finer) * WEIGHT_STEPS) / WEIGHT_STEPS;
        int[] low = sample(view.level(finer), at, layer);
        if (weight == 0) {
            return low;
        }
        int[] high = sample(view.level(finer + 1), at, layer);
        for (int c = 0; c < CHANNELS; c++) {
            low[c] = Float.floatToRawIntBits(Float.intBitsToFloat(low[c]) * (1 - weight)
                    + Float.intBitsToFloat(high[c]) * weight);
        }
        return low;
    }

    /**
     * Returns the level of detail at which texels are as far apart as a step of the coordinates: the logarithm of the longer of two steps in texels of the
     * finest level (OpenGL 4.6, section 8.14.1).
     *
     * @param across one step for each dimension
     * @param down   the other
     */
    public static float detail(TextureView view, float[] across, float[] down) {
        double longest = Math.max(length(view, across), length(view, down));
        return (float) (Math.log(longest) / Math.log(2));
    }

    private static double length(TextureView view, float[] step) {
        int[] extents = {view.width(), view.height(), view.depth()};
        double sum = 0;
        for (int d = 0; d < step.length; d++) {
            double texels = view.sampling().normalizedCoordinates() ? step[d] * extents[d] : step[d];
            sum += texels * texels;
        }
        return Math.sqrt(sum);
    }

    /** Reads by integer coordinates; outside is zero. */
    public static int[] fetch(TextureView view, int x, int y, int z) {
        boolean inside = x >= 0 && x < view.width() && y >= 0 && y < view.height() && z >= 0 && z < view.depth();
        return inside ? texel(view, x, y, z) : new int[CHANNELS];
    }

    private static float normalized(TextureView view, float at) {
        float whole = (float) Math.floor(at);
        return switch (view.sampling().mode()) {
            case WRAP -> at - whole;
            case MIRROR -> ((long) whole & 1) == 0 ? at - whole : 1 - (at - whole);
            default -> at;
        };
    }

    private static int floor(float value) {
        return (int) Math.floor(value);
    }

    private static int[] blend(TextureView view, float[] place, int dimensions, int layer) {
        int[] low = new int[3];
        float[] weight = new float[3];
        for (int d = 0; d < dimensions; d++) {
            float centred = place[d] - 0.5f;
            low[d] = floor(centred);
            weight[d] = Math.round((centred - low[d]) * WEIGHT_STEPS) / WEIGHT_STEPS;
        }
        float[] sum = new float[CHANNELS];
        for (int corner = 0; corner < 1 << dimensions; corner++) {
            float share = 1;
            int[] at = {low[0], low[1], dimensions > 2 ? low[2] : layer};
            for (int d = 0; d < dimensions; d++) {
                boolean upper = (corner >>> d & 1) != 0;
                share *= upper ? weight[d] : 1 - weight[d];
                at[d] += upper ? 1 : 0;
            }
            if (share != 0) {
                int[] texel = texel(view, at[0], at[1], at[2]);
                for (int c = 0; c < CHANNELS; c++) {
                    sum[c] += share * Float.intBitsToFloat(texel[c]);
                }
            }
        }
        int[] bits = new int[CHANNELS];
        for (int c = 0; c < CHANNELS; c++) {
            bits[c] = Float.floatToRawIntBits(sum[c]);
        }
        return bits;
    }

    /** Maps a coordinate into the image; -1 for the border. */
    private static int inside(TextureView view, int at, int extent) {
        if (at >= 0 && at < extent) {
            return at;
        }
        AddressMode mode = view.sampling().mode();
        if (mode == AddressMode.BORDER) {
            return -1;
        }
        boolean wraps = mode == AddressMode.WRAP && view.sampling().normalizedCoordinates();
        return wraps ? Math.floorMod(at, extent) : Math.clamp(at, 0, extent - 1);
    }

    private static int[] texel(TextureView view, int x, int y, int z) {
        int[] bits = new int[CHANNELS];
        int column = inside(view, x, view.width());
        int row = inside(view, y, view.height());
        int slice = inside(view, z, view.depth());
        if (column < 0 || row < 0 || slice < 0) {
            return bits;
        }
        long address = view.address() + slice * view.sliceBytes() + row * view.pitchBytes()
                + (long) column * view.elementBytes();
        for (int c = 0; c < CHANNELS; c++) {
            // A missing channel reads as zero, a missing fourth one too where NVIDIA leaves it open.
            bits[c] = c < view.channels() ? channel(view, address + (long) c * view.channelBits() / 8) : 0;
        }
        return bits;
    }

    private static int channel(TextureView view, long address) {
        boolean signed = view.kind() == ChannelKind.SIGNED;
        int raw = switch (view.channelBits()) {
            case 8 -> signed ? RealMemory.getByte(address) : RealMemory.getByte(address) & 0xFF;
            case 16 -> signed ? RealMemory.getShort(address) : RealMemory.getShort(address) & 0xFFFF;
            default -> RealMemory.getInt(address);
        };
        if (view.kind() == ChannelKind.FLOAT) {
            return view.channelBits() == 16 ? Float.floatToRawIntBits(Float.float16ToFloat((short) raw)) : raw;
        }
        if (!view.sampling().normalizedValues() || view.channelBits() == 32) {
            return raw;
        }
        float largest = (1 << view.channelBits() - (signed ? 1 : 0)) - 1;
        return Float.floatToRawIntBits(Math.max(-1, raw / largest));
    }
}
