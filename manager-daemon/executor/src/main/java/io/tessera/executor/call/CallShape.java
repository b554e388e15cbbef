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

/** The generated description of an entry's parameters. Immutable and thread-safe. */
public final class CallShape {
    private static final CallShape[] SHAPES = EntryDescriptions.all().stream().map(CallShape::new).toArray(CallShape[]::new);

    final EntryDescription description;
    final Shape[] parameters;
    /** Index of the stream that it works on; -1: none. */
    final int stream;
    /** Kinds of the handles that it returns. */
    final HandleKind[] makes;
    /** Parameters of type CUdeviceptr, and others that are addresses of the device. */
    final int[] addresses;
    /** Parameters of type CUdevice. */
    private final boolean[] devices;

    private CallShape(EntryDescription description) {
        this.description = description;
        List<ParameterDescription> described = description.parameters();
        this.parameters = described.stream().map(ParameterDescription::shape).toArray(Shape[]::new);
        this.devices = new boolean[parameters.length];
        List<Integer> found = new ArrayList<>();
        int streamAt = -1;
        for (int i = 0; i < parameters.length; i++) {
            if (parameters[i] instanceof Handle handle && handle.kind() == HandleKind.STREAM && streamAt < 0) {
                streamAt = i;
            }
            String type = described.get(i).type();
            // An address whose memory the executor does not read is still an address of the device, for example that in a tensor map.
            if (type.equals("CUdeviceptr") && parameters[i] instanceof ParameterDescription.Number
                    || parameters[i] instanceof ParameterDescription.Opaque opaque && !opaque.function()) {
                found.add(i);
            }
            devices[i] = type.equals("CUdevice") && parameters[i] instanceof ParameterDescription.Number;
        }
        this.makes = described.stream().map(ParameterDescription::shape)
                .filter(shape -> shape instanceof Pointer pointer && pointer.direction().comesOut())
                .map(CallShape::elements).filter(Objects::nonNull).distinct().toArray(HandleKind[]::new);
        this.stream = streamAt;
        this.addresses = found.stream().mapToInt(Integer::intValue).toArray();
    }

    static CallShape of(DriverEntry entry) {
        return SHAPES[entry.ordinal()];
    }

    /** Returns whether a CALL may name an entry. All others are answered in the client, or would affect other clients in the shared context. */
    public static boolean served(EntryDescription description) {
        return description.known() && description.relay().travels();
    }

    /** Returns the kinds of the handles that the entry returns. Must not be modified. */
    public HandleKind[] makes() {
        return makes;
    }

    /** Index of the stream that it works on; -1: none. */
    public int stream() {
        return stream;
    }

    /** Returns whether a parameter is a device's number. */
    public boolean isDevice(int parameter) {
        return devices[parameter];
    }

    /** Returns the kind of a pointer's elements if they are handles, which are translated; else null. */
    static HandleKind elements(Shape shape) {
        return shape instanceof Pointer pointer ? pointer.element().orElse(null) : null;
    }
}
