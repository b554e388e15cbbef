package io.tessera.software.driver.entry.texture;

import io.tessera.device.CudaEnums.TextureAddressMode;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.ResourceDescriptor;
import io.tessera.software.driver.abi.StructLayouts.TextureDescriptor;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.module.DriverModule;
import io.tessera.software.program.ReferenceKind;
import java.lang.foreign.Arena;
import java.util.function.Consumer;

/**
 * A texture or surface reference of a module: the memory to which it is bound, and how that is read, kept as the descriptors from which an object would be
 * made. Every change makes it again; earlier launches keep their binding. Thread-safe.
 */
final class TextureReference {
    private final DriverState state;
    private final DriverModule module;
    private final ReferenceKind kind;
    private final long place;
    private boolean isBound;
    private byte[] resource = new byte[ResourceDescriptor.BYTES];
    private byte[] texture = new byte[TextureDescriptor.BYTES];

    /** Creates an unbound reference; ends the entry with NOT_FOUND if the module has no such reference. */
    TextureReference(DriverState state, DriverModule module, String name, ReferenceKind kind) {
        this.state = state;
        this.module = module;
        this.kind = kind;
        this.place = module.reference(name, kind);
        for (int dimension = 0; dimension < 3; dimension++) {
            texture[TextureDescriptor.ADDRESS_MODES + 4 * dimension] = TextureAddressMode.CLAMP;
        }
    }

    /** Returns whether it is a texture or a surface. */
    ReferenceKind kind() {
        return kind;
    }

    /** Returns its CUDA_RESOURCE_DESC; ends the entry with INVALID_VALUE if it is not bound to a resource of a type. */
    synchronized byte[] resource(int type) {
        DriverException.require(isBound && resource[ResourceDescriptor.TYPE] == type, CudaError.INVALID_VALUE);
        return resource.clone();
    }

    /** Returns its CUDA_TEXTURE_DESC. */
    synchronized byte[] texture() {
        return texture.clone();
    }

    /**
     * Changes both descriptors, in host memory, and binds the reference to their resource. A resource that is not a texture yet stays unbound until it has
     * become one; a texture that the device does not support ends the entry with NOT_SUPPORTED, and nothing changes.
     *
     * @param change gets the addresses of resource and texture descriptor
     */
    synchronized void change(Consumer<long[]> change) {
        try (Arena arena = Arena.ofConfined()) {
            long resourceAt = arena.allocate(ResourceDescriptor.BYTES, 8).address();
            long textureAt = arena.allocate(TextureDescriptor.BYTES, 8).address();
            HostMemory.put(resourceAt, resource, ResourceDescriptor.BYTES);
            HostMemory.put(textureAt, texture, TextureDescriptor.BYTES);
            change.accept(new long[] {resourceAt, textureAt});
            boolean bound = HostMemory.getLong(resourceAt + ResourceDescriptor.OBJECT) != 0;
            TextureObject object = null;
            try {
                object = bound ? TextureObject.create(state, resourceAt, kind == ReferenceKind.TEXTURE ? textureAt : 0) : null;
            } catch (DriverException e) {
                if (e.error() != CudaError.INVALID_VALUE) {
                    throw e;
                }
            }
            isBound = bound;
            resource = HostMemory.get(resourceAt, ResourceDescriptor.BYTES);
            texture = HostMemory.get(textureAt, TextureDescriptor.BYTES);
            module.bind(place, object == null ? null : object.view());
        }
    }
}
