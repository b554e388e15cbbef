package io.tessera.software.driver.entry.texture;

import io.tessera.device.CudaEnums.ArrayFlag;
import io.tessera.device.CudaEnums.ResourceType;
import io.tessera.device.CudaEnums.TextureFlag;
import io.tessera.device.CudaEnums.TextureOverride;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.ArrayDescriptor;
import io.tessera.software.driver.abi.StructLayouts.ResourceDescriptor;
import io.tessera.software.driver.abi.StructLayouts.TextureDescriptor;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.memory.CudaArray;
import io.tessera.software.driver.memory.MipmappedArray;
import io.tessera.software.driver.module.DriverModule;
import io.tessera.software.program.ReferenceKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Texture and surface references: the memory to which they are bound, and how it is read. */
public final class TextureReferenceEntries implements EntryGroup {
    private static final int OVERRIDE_FORMAT = TextureOverride.OVERRIDE_FORMAT;
    private static final int DIMENSIONS = 3;
    private static final int FILTERS = 2;
    private static final int ADDRESS_MODES = 4;
    private static final int FLAGS = TextureFlag.READ_AS_INTEGER | TextureFlag.NORMALIZED_COORDINATES | TextureFlag.SRGB;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public TextureReferenceEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuModuleGetTexRef, call -> find(call, ReferenceKind.TEXTURE))
                .on(DriverEntry.cuModuleGetSurfRef, call -> find(call, ReferenceKind.SURFACE));
        resources(table);
        settings(table);
        answers(table);
    }

    private void find(Call call, ReferenceKind kind) {
        call.context();
        DriverModule module = call.object(1, DriverModule.class);
        Object reference = module.references().computeIfAbsent(call.text(2),
                name -> new TextureReference(state, module, name, kind));
        DriverException.require(((TextureReference) reference).kind() == kind, CudaError.NOT_FOUND);
        call.putLong(0, state.handles().of(reference));
    }

    private static TextureReference reference(Call call, int index, ReferenceKind kind) {
        TextureReference reference = call.object(index, TextureReference.class);
        DriverException.require(reference.kind() == kind, CudaError.INVALID_HANDLE);
        return reference;
    }

    private static void stands(TextureReference reference, int type, long object) {
        reference.change(at -> {
            HostMemory.putInt(at[0] + ResourceDescriptor.TYPE, type);
            HostMemory.putLong(at[0] + ResourceDescriptor.OBJECT, object);
        });
    }

    private void resources(EntryTable table) {
        table.on(DriverEntry.cuTexRefSetArray, call -> {
            DriverException.require(call.number(2) == OVERRIDE_FORMAT, CudaError.INVALID_VALUE);
            call.object(1, CudaArray.class);
            stands(reference(call, 0, ReferenceKind.TEXTURE), ResourceType.ARRAY, call.word(1));
        }).on(DriverEntry.cuTexRefSetMipmappedArray, call -> {
            DriverException.require(call.number(2) == OVERRIDE_FORMAT, CudaError.INVALID_VALUE);
            call.object(1, MipmappedArray.class);
            stands(reference(call, 0, ReferenceKind.TEXTURE), ResourceType.MIPMAPPED_ARRAY, call.word(1));
        }).on(DriverEntry.cuSurfRefSetArray, call -> {
            CudaArray array = call.object(1, CudaArray.class);
            DriverException.require(call.number(2) == 0 && (array.flags() & ArrayFlag.SURFACE_LDST) != 0,
                    CudaError.INVALID_VALUE);
            stands(reference(call, 0, ReferenceKind.SURFACE), ResourceType.ARRAY, call.word(1));
        }).on(DriverEntry.cuTexRefSetAddress_v2, call -> {
            call.offerLong(0, 0);
            reference(call, 1, ReferenceKind.TEXTURE).change(at -> {
                HostMemory.putInt(at[0] + ResourceDescriptor.TYPE, ResourceType.LINEAR);
                HostMemory.putLong(at[0] + ResourceDescriptor.OBJECT, call.word(2));
                HostMemory.putLong(at[0] + ResourceDescriptor.LINEAR_BYTES, call.word(3));
            });
        }).on(TextureReferenceEntries::plane, DriverEntry.cuTexRefSetAddress2D_v2, DriverEntry.cuTexRefSetAddress2D_v3);
    }

    private static void plane(Call call) {
        long plane = call.pointer(1);
        reference(call, 0, ReferenceKind.TEXTURE).change(at -> {
            HostMemory.putInt(at[0] + ResourceDescriptor.TYPE, ResourceType.PITCH2D);
            HostMemory.putLong(at[0] + ResourceDescriptor.OBJECT, call.word(2));
            HostMemory.putInt(at[0] + ResourceDescriptor.FORMAT, HostMemory.getInt(plane + ArrayDescriptor.FORMAT_2D));
            HostMemory.putInt(at[0] + ResourceDescriptor.CHANNELS, HostMemory.getInt(plane + ArrayDescriptor.CHANNELS_2D));
            HostMemory.putLong(at[0] + ResourceDescriptor.WIDTH, HostMemory.getLong(plane + ArrayDescriptor.WIDTH));
            HostMemory.putLong(at[0] + ResourceDescriptor.HEIGHT, HostMemory.getLong(plane + ArrayDescriptor.HEIGHT));
            HostMemory.putLong(at[0] + ResourceDescriptor.PITCH, call.word(3));
        });
    }

    /** Sets one number of the texture descriptor, which is refused from {@code end} on. */
    private static void set(Call call, int offset, int value, int end) {
        DriverException.require(value >= 0 && value < end, CudaError.INVALID_VALUE);
        reference(call, 0, ReferenceKind.TEXTURE).change(at -> HostMemory.putInt(at[1] + offset, value));
    }

    private static void settings(EntryTable table) {
        table.on(DriverEntry.cuTexRefSetAddressMode, call -> {
            DriverException.require(call.number(1) >= 0 && call.number(1) < DIMENSIONS, CudaError.INVALID_VALUE);
            set(call, TextureDescriptor.ADDRESS_MODES + 4 * call.number(1), call.number(2), ADDRESS_MODES);
        }).on(DriverEntry.cuTexRefSetFilterMode, call -> set(call, TextureDescriptor.FILTER_MODE, call.number(1), FILTERS))
                .on(DriverEntry.cuTexRefSetMipmapFilterMode,
                        call -> set(call, TextureDescriptor.MIPMAP_FILTER, call.number(1), FILTERS))
                .on(DriverEntry.cuTexRefSetMipmapLevelBias, call -> reference(call, 0, ReferenceKind.TEXTURE)
                        .change(at -> HostMemory.putFloat(at[1] + TextureDescriptor.MIPMAP_BIAS, call.real(1))))
                .on(DriverEntry.cuTexRefSetMipmapLevelClamp, call -> reference(call, 0, ReferenceKind.TEXTURE).change(at -> {
                    HostMemory.putFloat(at[1] + TextureDescriptor.MIPMAP_MIN, call.real(1));
                    HostMemory.putFloat(at[1] + TextureDescriptor.MIPMAP_MAX, call.real(2));
                }))
                .on(DriverEntry.cuTexRefSetMaxAnisotropy,
                        call -> set(call, TextureDescriptor.ANISOTROPY, call.number(1), Integer.MAX_VALUE))
                .on(DriverEntry.cuTexRefSetFlags, call -> {
                    DriverException.require((call.number(1) & ~FLAGS) == 0, CudaError.INVALID_VALUE);
                    set(call, TextureDescriptor.FLAGS, call.number(1), Integer.MAX_VALUE);
                })
                .on(DriverEntry.cuTexRefSetBorderColor, call -> {
                    byte[] colour = HostMemory.get(call.pointer(1), 16);
                    reference(call, 0, ReferenceKind.TEXTURE)
                            .change(at -> HostMemory.put(at[1] + TextureDescriptor.BORDER, colour, colour.length));
                })
                .on(DriverEntry.cuTexRefSetFormat, call -> reference(call, 0, ReferenceKind.TEXTURE).change(at -> {
                    HostMemory.putInt(at[0] + ResourceDescriptor.FORMAT, call.number(1));
                    HostMemory.putInt(at[0] + ResourceDescriptor.CHANNELS, call.number(2));
                }));
    }

    private static ByteBuffer texture(Call call, int index) {
        return ByteBuffer.wrap(reference(call, index, ReferenceKind.TEXTURE).texture()).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static long object(Call call, int index, ReferenceKind kind, int type) {
        return ByteBuffer.wrap(reference(call, index, kind).resource(type)).order(ByteOrder.LITTLE_ENDIAN)
                .getLong(ResourceDescriptor.OBJECT);
    }

    private static void answers(EntryTable table) {
        table.on(DriverEntry.cuTexRefGetArray, call -> call.putLong(0, object(call, 1, ReferenceKind.TEXTURE, ResourceType.ARRAY)))
                .on(DriverEntry.cuTexRefGetMipmappedArray,
                        call -> call.putLong(0, object(call, 1, ReferenceKind.TEXTURE, ResourceType.MIPMAPPED_ARRAY)))
                .on(DriverEntry.cuSurfRefGetArray, call -> call.putLong(0, object(call, 1, ReferenceKind.SURFACE, ResourceType.ARRAY)))
                .on(DriverEntry.cuTexRefGetAddress_v2,
                        call -> call.putLong(0, object(call, 1, ReferenceKind.TEXTURE, ResourceType.LINEAR)))
                .on(DriverEntry.cuTexRefGetAddressMode, call -> {
                    DriverException.require(call.number(2) >= 0 && call.number(2) < DIMENSIONS, CudaError.INVALID_VALUE);
                    call.putInt(0, texture(call, 1).getInt(TextureDescriptor.ADDRESS_MODES + 4 * call.number(2)));
                })
                .on(DriverEntry.cuTexRefGetFilterMode,
                        call -> call.putInt(0, texture(call, 1).getInt(TextureDescriptor.FILTER_MODE)))
                .on(DriverEntry.cuTexRefGetMipmapFilterMode,
                        call -> call.putInt(0, texture(call, 1).getInt(TextureDescriptor.MIPMAP_FILTER)))
                .on(DriverEntry.cuTexRefGetMaxAnisotropy,
                        call -> call.putInt(0, texture(call, 1).getInt(TextureDescriptor.ANISOTROPY)))
                .on(DriverEntry.cuTexRefGetFlags, call -> call.putInt(0, texture(call, 1).getInt(TextureDescriptor.FLAGS)));
    }
}
