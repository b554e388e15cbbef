package io.tessera.software.driver.entry.texture;

import io.tessera.device.CudaEnums.ArrayFlag;
import io.tessera.device.CudaEnums.ResourceType;
import io.tessera.device.CudaEnums.TextureFilterMode;
import io.tessera.device.CudaEnums.TextureFlag;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.ResourceDescriptor;
import io.tessera.software.driver.abi.StructLayouts.TextureDescriptor;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.memory.CudaArray;
import io.tessera.software.driver.memory.CudaArrayFormat;
import io.tessera.software.driver.memory.MipmappedArray;
import io.tessera.software.texture.TextureView;
import io.tessera.software.texture.TextureView.AddressMode;
import io.tessera.software.texture.TextureView.ChannelKind;
import io.tessera.software.texture.TextureView.Sampling;
import java.util.List;

/**
 * A texture or surface object. Not a record: two objects of equal content are two objects.
 */
final class TextureObject {
    private final TextureView view;
    private final byte[] resource;
    private final byte[] texture;

    private TextureObject(TextureView view, byte[] resource, byte[] texture) {
        this.view = view;
        this.resource = resource;
        this.texture = texture;
    }

    /** Returns what kernels read. */
    TextureView view() {
        return view;
    }

    /** CUDA_RESOURCE_DESC as the program gave it. */
    byte[] resource() {
        return resource;
    }

    /** CUDA_TEXTURE_DESC as the program gave it; null for a surface. */
    byte[] texture() {
        return texture;
    }

    /** Makes an object; {@code texture} is 0 for a surface, which has to be an array made for it. */
    static TextureObject create(DriverState state, long resource, long texture) {
        int type = HostMemory.getInt(resource + ResourceDescriptor.TYPE);
        DriverException.require(HostMemory.getInt(resource + ResourceDescriptor.FLAGS) == 0, CudaError.INVALID_VALUE);
        byte[] kept = HostMemory.get(resource, ResourceDescriptor.BYTES);
        if (type == ResourceType.ARRAY) {
            CudaArray array = state.handles().get(HostMemory.getLong(resource + ResourceDescriptor.OBJECT),
                    CudaArray.class);
            DriverException.require(texture != 0 || (array.flags() & ArrayFlag.SURFACE_LDST) != 0, CudaError.INVALID_VALUE);
            DriverException.require((array.flags() & ArrayFlag.CUBEMAP) == 0, CudaError.NOT_SUPPORTED);
            return of(image(array), kept, texture);
        }
        if (type == ResourceType.MIPMAPPED_ARRAY) {
            return mipmapped(state.handles().get(HostMemory.getLong(resource + ResourceDescriptor.OBJECT),
                    MipmappedArray.class), kept, texture);
        }
        DriverException.require(type == ResourceType.LINEAR || type == ResourceType.PITCH2D, CudaError.NOT_SUPPORTED);
        DriverException.require(texture != 0, CudaError.INVALID_VALUE);
        return of(memory(state, resource, type == ResourceType.PITCH2D), kept, texture);
    }

    private static Image image(CudaArray array) {
        return new Image(array.storage().address(), new long[] {array.width(), Math.max(1, array.height()),
                Math.max(1, array.depth())}, array.pitchBytes(), array.format(), array.channels());
    }

    /** Levels are chosen by numbers that mean the same at all of them: by normalized coordinates. */
    private static TextureObject mipmapped(MipmappedArray mipmap, byte[] kept, long texture) {
        DriverException.require(texture != 0
                && (HostMemory.getInt(texture + TextureDescriptor.FLAGS) & TextureFlag.NORMALIZED_COORDINATES) != 0, CudaError.INVALID_VALUE);
        DriverException.require((mipmap.levels().getFirst().flags() & ArrayFlag.CUBEMAP) == 0, CudaError.NOT_SUPPORTED);
        List<TextureObject> levels = mipmap.levels().stream().map(array -> of(image(array), kept, texture)).toList();
        TextureObject finest = levels.getFirst();
        int filter = HostMemory.getInt(texture + TextureDescriptor.MIPMAP_FILTER);
        boolean floats = finest.view.kind() == ChannelKind.FLOAT || finest.view.sampling().normalizedValues();
        DriverException.require(filter == TextureFilterMode.POINT || filter == TextureFilterMode.LINEAR && floats, CudaError.INVALID_VALUE);
        float most = HostMemory.getFloat(texture + TextureDescriptor.MIPMAP_MAX);
        TextureView.Mipmap choice = new TextureView.Mipmap(
                levels.stream().skip(1).map(TextureObject::view).toList(), filter == TextureFilterMode.LINEAR,
                HostMemory.getFloat(texture + TextureDescriptor.MIPMAP_BIAS),
                HostMemory.getFloat(texture + TextureDescriptor.MIPMAP_MIN), most);
        return new TextureObject(finest.view.with(choice), kept, finest.texture);
    }

    /** Elements in rows; extent is width, height, depth. */
    private record Image(long address, long[] extent, long pitch, CudaArrayFormat format, int channels) {
    }

    private static Image memory(DriverState state, long resource, boolean pitched) {
        long address = HostMemory.getLong(resource + ResourceDescriptor.OBJECT);
        CudaArrayFormat format = CudaArrayFormat.of(HostMemory.getInt(resource + ResourceDescriptor.FORMAT));
        int channels = HostMemory.getInt(resource + ResourceDescriptor.CHANNELS);
        DriverException.require(channels == 1 || channels == 2 || channels == 4, CudaError.INVALID_VALUE);
        long element = (long) format.bytes() * channels;
        long bytes = HostMemory.getLong(resource + ResourceDescriptor.LINEAR_BYTES);
        long width = pitched ? bytes : bytes / element;
        long height = pitched ? HostMemory.getLong(resource + ResourceDescriptor.HEIGHT) : 1;
        long pitch = pitched ? HostMemory.getLong(resource + ResourceDescriptor.PITCH) : width * element;
        DriverException.require(width > 0 && width <= Integer.MAX_VALUE && height > 0 && height <= Integer.MAX_VALUE
                && pitch >= width * element && address % element == 0
                && state.memory().addresses().covers(address, (height - 1) * pitch + width * element),
                CudaError.INVALID_VALUE);
        return new Image(address, new long[] {width, height, 1}, pitch, format, channels);
    }

    private static TextureObject of(Image image, byte[] resource, long texture) {
        ChannelKind kind = image.format().floating() ? ChannelKind.FLOAT
                : image.format().name().startsWith("SIGNED") ? ChannelKind.SIGNED : ChannelKind.UNSIGNED;
        Sampling sampling = texture == 0 ? new Sampling(AddressMode.CLAMP, false, false, false)
                : sampling(texture, image);
        TextureView view = new TextureView(image.address(), (int) image.extent()[0], (int) image.extent()[1],
                (int) image.extent()[2], image.pitch(), image.pitch() * image.extent()[1], image.channels(),
                8 * image.format().bytes(), kind, sampling);
        return new TextureObject(view, resource,
                texture == 0 ? null : HostMemory.get(texture, TextureDescriptor.BYTES));
    }

    /** Returns what the processor can sample: one way of addressing for all dimensions, a border of zeros, no sRGB. */
    private static Sampling sampling(long texture, Image image) {
        int flags = HostMemory.getInt(texture + TextureDescriptor.FLAGS);
        DriverException.require((flags & TextureFlag.SRGB) == 0, CudaError.NOT_SUPPORTED);
        boolean normalized = (flags & TextureFlag.NORMALIZED_COORDINATES) != 0;
        int first = HostMemory.getInt(texture + TextureDescriptor.ADDRESS_MODES);
        DriverException.require(first >= 0 && first < AddressMode.values().length, CudaError.INVALID_VALUE);
        for (int i = 1; i < 3 && image.extent()[i] > 1; i++) {
            DriverException.require(HostMemory.getInt(texture + TextureDescriptor.ADDRESS_MODES + 4L * i) == first,
                    CudaError.NOT_SUPPORTED);
        }
        AddressMode mode = AddressMode.values()[first];
        // Wrap and mirror mean something in normalized coordinates only; the driver clamps otherwise.
        if (!normalized && (mode == AddressMode.WRAP || mode == AddressMode.MIRROR)) {
            mode = AddressMode.CLAMP;
        }
        for (int i = 0; i < 4 && mode == AddressMode.BORDER; i++) {
            DriverException.require(HostMemory.getFloat(texture + TextureDescriptor.BORDER + 4L * i) == 0,
                    CudaError.NOT_SUPPORTED);
        }
        boolean asFloat = !image.format().floating() && image.format().bytes() < 4 && (flags & TextureFlag.READ_AS_INTEGER) == 0;
        int filter = HostMemory.getInt(texture + TextureDescriptor.FILTER_MODE);
        DriverException.require(filter == TextureFilterMode.POINT || filter == TextureFilterMode.LINEAR && (image.format().floating() || asFloat),
                CudaError.INVALID_VALUE);
        return new Sampling(mode, filter == TextureFilterMode.LINEAR, normalized, asFloat);
    }
}
