package io.tessera.executor.call.texture;

import io.tessera.device.CudaEnums.ResourceType;
import io.tessera.device.CudaLayouts.CUDA_ARRAY_DESCRIPTOR;
import io.tessera.device.CudaLayouts.CUDA_RESOURCE_DESC;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.AddressCheck;
import io.tessera.executor.call.AddressRule;
import io.tessera.executor.call.ArrayFormat;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.StructureTranslation;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.handle.DeferredReleases;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/** Textures and surfaces: the memory that they read. Layouts are cuda.h's {@code CUDA_RESOURCE_DESC}. One owner thread. */
final class ResourceCalls {
    private static final String TYPE = "CUDA_RESOURCE_DESC";

    private final DriverCalls driver;
    private final ClientFences fences;
    private final DeferredReleases deferredReleases;
    private final StructureTranslation structures;
    private final AddressCheck addresses;
    private final ArrayEnds ends;

    ResourceCalls(DriverCalls driver, ClientFences fences, DeferredReleases deferredReleases, CallChecks checks, ArrayEnds ends) {
        this.driver = driver;
        this.fences = fences;
        this.deferredReleases = deferredReleases;
        this.structures = checks.structures();
        this.addresses = checks.addresses();
        this.ends = ends;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuTexObjectCreate).executes(this::create);
        calls.row(DriverApi.cuSurfObjectCreate).executes(this::create);
        calls.row(DriverApi.cuTexObjectDestroy).ends(HandleKind.TEXTURE).executes((frame, _) -> ends.end(HandleKind.TEXTURE, frame.slot(0)));
        calls.row(DriverApi.cuSurfObjectDestroy).ends(HandleKind.SURFACE).executes((frame, _) -> ends.end(HandleKind.SURFACE, frame.slot(0)));
        calls.row(DriverApi.cuTexObjectGetResourceDesc).executes(this::describe);
        calls.row(DriverApi.cuSurfObjectGetResourceDesc).executes(this::describe);
        calls.row(DriverApi.cuTexRefSetArray).executes(this::bind);
        calls.row(DriverApi.cuTexRefSetMipmappedArray).executes(this::bind);
        calls.row(DriverApi.cuSurfRefSetArray).executes(this::bind);
        calls.row(DriverApi.cuTexRefSetAddress).spans((frame, _) -> frame.slot(3)).executes(this::bindMemory);
        calls.row(DriverApi.cuTexRefSetAddress2D).spans(ResourceCalls::referencePlane).executes(this::bindMemory);
        calls.row(DriverApi.cuTexRefGetArray).namesOnly();
        calls.row(DriverApi.cuTexRefGetMipmappedArray).namesOnly();
        calls.row(DriverApi.cuSurfRefGetArray).namesOnly();
        calls.row(DriverApi.cuTexRefDestroy).ends(HandleKind.TEXREF);
        calls.plain(DriverApi.cuTexObjectGetResourceViewDesc, DriverApi.cuTexObjectGetTextureDesc, DriverApi.cuTexRefCreate,
                DriverApi.cuTexRefGetAddress,
                DriverApi.cuTexRefGetAddressMode, DriverApi.cuTexRefGetBorderColor, DriverApi.cuTexRefGetFilterMode, DriverApi.cuTexRefGetFlags,
                DriverApi.cuTexRefGetFormat, DriverApi.cuTexRefGetMaxAnisotropy, DriverApi.cuTexRefGetMipmapFilterMode,
                DriverApi.cuTexRefGetMipmapLevelBias, DriverApi.cuTexRefGetMipmapLevelClamp, DriverApi.cuTexRefSetAddressMode,
                DriverApi.cuTexRefSetBorderColor, DriverApi.cuTexRefSetFilterMode, DriverApi.cuTexRefSetFlags, DriverApi.cuTexRefSetFormat,
                DriverApi.cuTexRefSetMaxAnisotropy, DriverApi.cuTexRefSetMipmapFilterMode, DriverApi.cuTexRefSetMipmapLevelBias,
                DriverApi.cuTexRefSetMipmapLevelClamp);
    }

    /** Parameters of {@code cuTexRefSetAddress2D}: reference, {@code CUDA_ARRAY_DESCRIPTOR}, address, pitch. */
    private static long referencePlane(CallFrame frame, int parameter) throws RejectedException {
        MemorySegment shape = frame.required(1);
        long elementBytes = ArrayFormat.elementBytes(shape.get(WireTypes.U32, CUDA_ARRAY_DESCRIPTOR.Format),
                shape.get(WireTypes.U32, CUDA_ARRAY_DESCRIPTOR.NumChannels));
        return AddressRule.rows(AddressRule.times(shape.get(WireTypes.U64, CUDA_ARRAY_DESCRIPTOR.Width), elementBytes),
                shape.get(WireTypes.U64, CUDA_ARRAY_DESCRIPTOR.Height), frame.slot(3));
    }

    /** Parameters: object, resource, and for textures how it is read. */
    private int create(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment resource = frame.required(1);
        structures.in(resource, TYPE);
        int type = resource.get(WireTypes.U32, CUDA_RESOURCE_DESC.resType);
        if (type == ResourceType.LINEAR) {
            addresses.own(resource.get(WireTypes.U64, CUDA_RESOURCE_DESC.res_linear_devPtr),
                    resource.get(WireTypes.U64, CUDA_RESOURCE_DESC.res_linear_sizeInBytes));
        } else if (type == ResourceType.PITCH2D) {
            long width = resource.get(WireTypes.U64, CUDA_RESOURCE_DESC.res_pitch2D_width);
            long bytes = ArrayFormat.elementBytes(resource.get(WireTypes.U32, CUDA_RESOURCE_DESC.res_pitch2D_format),
                    resource.get(WireTypes.U32, CUDA_RESOURCE_DESC.res_pitch2D_numChannels));
            if (width < 0 || width > Integer.MAX_VALUE) {
                throw CallFrame.malformed("a texture " + width + " elements wide");
            }
            addresses.own(resource.get(WireTypes.U64, CUDA_RESOURCE_DESC.res_pitch2D_devPtr), AddressRule.rows(width * bytes,
                    resource.get(WireTypes.U64, CUDA_RESOURCE_DESC.res_pitch2D_height),
                    resource.get(WireTypes.U64, CUDA_RESOURCE_DESC.res_pitch2D_pitchInBytes)));
        }
        int result = driver.call(frame.entry(), frame.slots());
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        long object = frame.data(0).get(WireTypes.U64, 0);
        if (type == ResourceType.ARRAY || type == ResourceType.MIPMAPPED_ARRAY) {
            ends.made(object, resource.get(WireTypes.U64, CUDA_RESOURCE_DESC.res_array_hArray));
        }
        return fences.texture(object, true);
    }

    /** Parameters: reference, array. */
    private int bind(CallFrame frame, ClientContext context) {
        int result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            deferredReleases.bind(frame.argument(0), frame.slot(1));
        }
        return result;
    }

    /** Records that a reference reads memory from now on. */
    private int bindMemory(CallFrame frame, ClientContext context) {
        int result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            deferredReleases.bind(frame.argument(frame.handleParameter(HandleKind.TEXREF)), 0);
        }
        return result;
    }

    /** Parameters: resource, object. */
    private int describe(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, CUDA_RESOURCE_DESC.BYTES);
        int result = driver.call(frame.entry(), frame.slots());
        if (result == CudaResult.SUCCESS) {
            structures.out(frame.data(0), TYPE, 0, frame.contextNumber());
        } else {
            frame.data(0).fill((byte) 0);
        }
        return result;
    }
}
