package io.tessera.software.driver.entry.texture;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.ResourceDescriptor;
import io.tessera.software.driver.abi.StructLayouts.TextureDescriptor;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;

/** Texture and surface objects; their handles are what kernels get. */
public final class TextureEntries implements EntryGroup {
    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public TextureEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        state.processor().useTextures(handle -> state.handles().find(handle) instanceof TextureObject object ? object.view() : null);
        table.on(DriverEntry.cuTexObjectCreate, call -> {
            // A view would show an array in another format or shape.
            DriverException.require(!call.given(3), CudaError.NOT_SUPPORTED);
            create(call, call.pointer(2));
        }).on(DriverEntry.cuSurfObjectCreate, call -> create(call, 0))
                .on(call -> state.handles().remove(call.object(0, TextureObject.class)),
                        DriverEntry.cuTexObjectDestroy, DriverEntry.cuSurfObjectDestroy)
                .on(call -> HostMemory.put(call.pointer(0), call.object(1, TextureObject.class).resource(),
                        ResourceDescriptor.BYTES), DriverEntry.cuTexObjectGetResourceDesc,
                        DriverEntry.cuSurfObjectGetResourceDesc)
                .on(DriverEntry.cuTexObjectGetTextureDesc, call -> {
                    byte[] texture = call.object(1, TextureObject.class).texture();
                    DriverException.require(texture != null, CudaError.INVALID_VALUE);
                    HostMemory.put(call.pointer(0), texture, TextureDescriptor.BYTES);
                });
    }

    private void create(Call call, long texture) {
        long out = call.pointer(0);
        call.context();
        long index = state.handles().index(TextureObject.create(state, call.pointer(1), texture));
        DriverException.require(index != 0, CudaError.OUT_OF_MEMORY);
        HostMemory.putLong(out, index);
    }
}
