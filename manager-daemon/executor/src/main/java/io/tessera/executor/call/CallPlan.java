package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.device.EntryDescription;
import io.tessera.device.EntryDescriptions;
import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription;
import io.tessera.device.ParameterDescription.Handle;
import io.tessera.device.ParameterDescription.Pointer;
import io.tessera.device.ParameterDescription.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** How a CALL of one entry is made: decided once, from the entry's description. Immutable and thread-safe. */
final class CallPlan {
    /** Entries with a stream that submit nothing to it. */
    private static final List<String> NO_SUBMISSION = List.of("cuStreamDestroy", "cuStreamGet", "cuStreamSet",
            "cuStreamCopyAttributes", "cuStreamBeginCapture", "cuStreamEndCapture", "cuStreamUpdateCapture",
            "cuGraphUpload", "cuGraphInstantiate", "cuStreamCreate");
    private static final Set<String> MAKES_MEMORY = Set.of("cuMemAddressReserve", "cuMemMap", "cuModuleGetGlobal", "cuLibraryGetGlobal",
            "cuIpcOpenMemHandle");
    private static final CallPlan[] PLANS = EntryDescriptions.all().stream().map(CallPlan::new)
            .toArray(CallPlan[]::new);

    final EntryDescription description;
    final Shape[] shapes;
    final boolean served;
    final boolean contextless;
    /** Index of the stream that it works on; -1: none. */
    final int stream;
    /** Whether it submits work to that stream. */
    final boolean submits;
    /** Whether it makes, changes or asks graphs. */
    final boolean ofGraphs;
    /** Whether it makes memory of the client's, or names it. */
    final boolean makesMemory;
    /** Whether it is a copy or memset without a stream, which the driver would run on its own legacy stream. */
    final boolean onNullStream;
    /** Whether addresses of pinned memory may stand where the driver takes host pointers. */
    final boolean copies;
    /** Kinds of the handles that it gives out. */
    final HandleKind[] makes;
    /** Parameters of type CUdeviceptr, and others that are addresses of the device. */
    final int[] addresses;
    /** Parameters of type CUdevice. */
    private final boolean[] devices;

    private CallPlan(EntryDescription description) {
        this.description = description;
        List<ParameterDescription> parameters = description.parameters();
        this.shapes = parameters.stream().map(ParameterDescription::shape).toArray(Shape[]::new);
        this.served = RelayedEntries.served(description);
        this.contextless = RelayedEntries.contextless(description);
        String api = description.api();
        this.copies = api.startsWith("cuMemcpy");
        this.devices = new boolean[shapes.length];
        List<Integer> found = new ArrayList<>();
        int streamAt = -1;
        for (int i = 0; i < shapes.length; i++) {
            if (shapes[i] instanceof Handle handle && handle.kind() == HandleKind.STREAM && streamAt < 0) {
                streamAt = i;
            }
            String type = parameters.get(i).type();
            // What nobody looks behind is an address of the device all the same: that of a tensor map, for example.
            if (type.equals("CUdeviceptr") && shapes[i] instanceof ParameterDescription.Number
                    || shapes[i] instanceof ParameterDescription.Opaque opaque && !opaque.function()) {
                found.add(i);
            }
            devices[i] = type.equals("CUdevice") && shapes[i] instanceof ParameterDescription.Number;
        }
        this.makes = parameters.stream().map(ParameterDescription::shape)
                .filter(shape -> shape instanceof Pointer pointer && pointer.direction().comesOut())
                .map(CallPlan::elements).filter(Objects::nonNull).distinct().toArray(HandleKind[]::new);
        this.stream = streamAt;
        this.submits = streamAt >= 0 && NO_SUBMISSION.stream().noneMatch(api::startsWith);
        this.ofGraphs = api.startsWith("cuGraph");
        this.makesMemory = api.startsWith("cuMemAlloc") || MAKES_MEMORY.contains(api);
        this.onNullStream = streamAt < 0 && (copies || api.startsWith("cuMemset"));
        this.addresses = found.stream().mapToInt(Integer::intValue).toArray();
    }

    /** The plan of an entry. */
    static CallPlan of(DriverEntry entry) {
        return PLANS[entry.ordinal()];
    }

    /** Which entry. */
    DriverEntry entry() {
        return description.entry();
    }

    /** The name that programs write. */
    String api() {
        return description.api();
    }

    /** Whether a parameter is a device's number. */
    boolean isDevice(int parameter) {
        return devices[parameter];
    }

    /** Whether a parameter's elements are handles, so that they are translated. */
    static HandleKind elements(Shape shape) {
        return shape instanceof Pointer pointer ? pointer.element().orElse(null) : null;
    }
}
