package io.tessera.executor.call.dispatch;

import io.tessera.device.EntryDescription;
import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription.Handle;
import io.tessera.device.ParameterDescription.Opaque;
import io.tessera.device.ParameterDescription.Pointer;
import io.tessera.device.ParameterDescription.Structure;
import io.tessera.device.ParameterDescription;
import io.tessera.device.StructureDescription.Field;
import io.tessera.device.StructureDescription;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayHandle;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Makes CALL records of any entry, right in every place but perhaps one. */
final class CallMaker {
    /** Memory of the client, and memory of nobody. */
    static final long OWN = 0x2000_1000_0000L;
    static final long OWN_BYTES = 1 << 20;
    static final long FOREIGN = 0x2000_9000_0000L;
    private static final int FOREIGN_INDEX = 77_777;
    /** The bytes behind every pointer: more than any structure has, and what packed ones are followed by. */
    private static final int DATA_BYTES = 1024;
    private static final int REPLY_BYTES = 512;

    /** Sizes and kinds in structures, by offset: those by which something is touched at all. Four bytes, then eight. */
    private static final Map<String, Map<Integer, Integer>> NARROW = Map.of(
            "CUDA_MEMSET_NODE_PARAMS", Map.of(20, 1), "CUDA_BATCH_MEM_OP_NODE_PARAMS", Map.of(8, 1),
            "CUDA_RESOURCE_DESC", Map.of(16, 3, 20, 1), "CUstreamBatchMemOpParams", Map.of(0, 2),
            "CUDA_ARRAY_DESCRIPTOR", Map.of(16, 3, 20, 1), "CUmemLocation", Map.of(0, 1),
            "CUmemAccessDesc", Map.of(0, 1), "CUgraphNodeParams.memset", Map.of(36, 1));
    private static final Map<String, Map<Integer, Long>> WIDE = Map.of(
            "CUDA_MEMCPY2D", Map.of(112, 4L, 120, 2L, 48, 64L, 104, 64L),
            "CUDA_MEMCPY3D", Map.of(176, 4L, 184, 2L, 192, 1L),
            "CUDA_MEMCPY3D_PEER", Map.of(176, 4L, 184, 2L, 192, 1L),
            "CUDA_MEMSET_NODE_PARAMS", Map.of(24, 4L, 32, 1L),
            "CUDA_RESOURCE_DESC", Map.of(24, 16L, 32, 1L, 40, 512L),
            "CUDA_ARRAY_DESCRIPTOR", Map.of(0, 4L, 8, 2L),
            "CUDA_MEM_ALLOC_NODE_PARAMS", Map.of(104, 4096L),
            "CUgraphNodeParams.memcpy", Map.of(208, 4L, 216, 2L, 224, 1L),
            "CUgraphNodeParams.memset", Map.of(40, 4L, 48, 1L),
            "CUgraphNodeParams.alloc", Map.of(120, 4096L));

    /** A place where a value stands that must be the client's. */
    record Spot(EntryDescription entry, int parameter, Field field, String name) {
        @Override
        public String toString() {
            return entry.entry() + "." + name;
        }
    }

    private CallMaker() {
    }

    static long handle(HandleKind kind, boolean own) {
        if (kind.deviceValue()) {
            return own ? 0x100L + kind.ordinal() : FOREIGN_INDEX;
        }
        return RelayHandle.of(kind.number(), 0, own ? 0 : FOREIGN_INDEX);
    }

    /** All such places of an entry. */
    static List<Spot> spots(EntryDescription entry) {
        List<Spot> spots = new ArrayList<>();
        for (int i = 0; i < entry.parameters().size(); i++) {
            ParameterDescription parameter = entry.parameters().get(i);
            boolean here = switch (parameter.shape()) {
                case Handle handle -> handle.kind() != HandleKind.CONTEXT;
                case Opaque opaque -> !opaque.function();
                case ParameterDescription.Number _ -> parameter.type().equals("CUdeviceptr");
                case Pointer pointer -> pointer.direction().goesIn()
                        && (pointer.element().isPresent() || parameter.type().equals("CUdeviceptr"));
                default -> false;
            };
            if (here) {
                spots.add(new Spot(entry, i, null, parameter.name()));
            }
            boolean holds = parameter.shape() instanceof Structure
                    || parameter.shape() instanceof Pointer pointer && pointer.direction().goesIn();
            StructureDescription structure = holds ? parameter.structure().orElse(null) : null;
            for (Field field : structure == null ? List.<Field>of() : structure.fields()) {
                if (named(field)) {
                    spots.add(new Spot(entry, i, field, parameter.name() + "." + field.path()));
                }
            }
        }
        return spots;
    }

    /** A record of the spot's entry with the client's own values everywhere, but perhaps at the spot. */
    static MemorySegment record(Spot spot, boolean own) {
        List<ParameterDescription> parameters = spot.entry().parameters();
        byte[] room = new byte[RecordHeader.BYTES + parameters.size() * (Long.BYTES + DATA_BYTES) + 64];
        MemorySegment record = MemorySegment.ofBuffer(java.nio.ByteBuffer.allocateDirect(room.length));
        RecordHeader.write(record, 0, RecordKind.CALL, spot.entry().entry().ordinal(), 0, 1, 0);
        long dataAt = RecordHeader.BYTES + (long) parameters.size() * Long.BYTES;
        for (int i = 0; i < parameters.size(); i++) {
            ParameterDescription parameter = parameters.get(i);
            boolean right = own || i != spot.parameter();
            long word = switch (parameter.shape()) {
                case Handle handle -> handle(handle.kind(), right);
                case Opaque opaque -> opaque.function() ? 0 : right ? OWN : FOREIGN;
                case Pointer _,Structure _ -> {
                    int bytes = parameter.shape() instanceof Structure structure ? structure.bytes() : DATA_BYTES;
                    boolean goesIn = !(parameter.shape() instanceof Pointer pointer) || pointer.direction().goesIn();
                    boolean comesOut = parameter.shape() instanceof Pointer pointer && pointer.direction().comesOut();
                    if (goesIn) {
                        data(record.asSlice(dataAt, bytes), spot, i, right);
                        dataAt += RelayLayout.align(bytes, 8);
                    }
                    yield RelayLayout.POINTER_PRESENT | (comesOut ? (long) REPLY_BYTES << 32 : 0) | (goesIn ? bytes : 0);
                }
                default -> parameter.type().equals("CUdeviceptr") ? right ? OWN : FOREIGN
                        : parameter.type().equals("CUdevice") ? 0 : 1;
            };
            record.set(WireTypes.U64, RecordHeader.BYTES + (long) i * Long.BYTES, word);
        }
        RecordHeader.lengthRelease(record, 0, (int) dataAt);
        return record.asSlice(0, dataAt);
    }

    private static void data(MemorySegment data, Spot spot, int i, boolean right) {
        ParameterDescription parameter = spot.entry().parameters().get(i);
        if (parameter.shape() instanceof Pointer pointer && pointer.element().isPresent()) {
            for (long at = 0; at + Long.BYTES <= data.byteSize(); at += Long.BYTES) {
                data.set(WireTypes.U64, at, handle(pointer.element().get(), right));
            }
        } else if (parameter.type().equals("CUdeviceptr")) {
            for (long at = 0; at + Long.BYTES <= data.byteSize(); at += Long.BYTES) {
                data.set(WireTypes.U64, at, right ? OWN : FOREIGN);
            }
        } else if (parameter.type().equals("size_t") || parameter.type().startsWith("cuuint")) {
            data.set(WireTypes.U64, 0, 1);
        } else {
            parameter.structure().ifPresentOrElse(structure -> {
                boolean chosen = i == spot.parameter() && spot.field() != null;
                structure(data, structure, chosen ? spot.field() : null, right);
            }, () -> scalars(data, parameter.type()));
        }
    }

    private static void scalars(MemorySegment data, String type) {
        NARROW.getOrDefault(type, Map.of()).forEach((at, value) -> data.set(WireTypes.U32, at, value));
        WIDE.getOrDefault(type, Map.of()).forEach((at, value) -> data.set(WireTypes.U64, at, value));
    }

    private static void structure(MemorySegment data, StructureDescription structure, Field spot, boolean right) {
        if (spot != null) {
            conditions(data, spot);
        }
        for (Field field : structure.fields()) {
            // Among those that share a place the first is meant where nothing else is said.
            if (field != spot && named(field) && field.conditions().stream().allMatch(c -> c.holds(data)
                    || zero(data, c.offset()) && !decides(spot, c.offset()))) {
                conditions(data, field);
            }
        }
        scalars(data, structure.type());
        if (spot != null) {
            scalars(data, structure.type() + "." + spot.path().split("\\.")[0]);
        }
        for (Field field : structure.fields()) {
            if (field.applies(data)) {
                set(data, field, field != spot || right);
            }
        }
        if (spot != null) {
            set(data, spot, right);
        }
    }

    private static boolean named(Field field) {
        return field.kind() instanceof StructureDescription.Address
                || field.kind() instanceof StructureDescription.Handle handle && handle.kind() != HandleKind.CONTEXT;
    }

    private static boolean decides(Field spot, int offset) {
        return spot != null && spot.conditions().stream().anyMatch(condition -> condition.offset() == offset);
    }

    private static boolean zero(MemorySegment data, int at) {
        return data.get(WireTypes.U32, at) == 0;
    }

    private static void conditions(MemorySegment data, Field field) {
        field.conditions().forEach(condition -> data.set(WireTypes.U32, condition.offset(),
                (int) condition.values().stream().mapToLong(Long::longValue).min().orElse(0)));
    }

    private static void set(MemorySegment data, Field field, boolean right) {
        switch (field.kind()) {
            case StructureDescription.Handle handle -> data.set(WireTypes.U64, field.offset(),
                    handle.kind() == HandleKind.CONTEXT ? 0 : handle(handle.kind(), right));
            case StructureDescription.Address _ -> data.set(WireTypes.U64, field.offset(), right ? OWN : FOREIGN);
            default -> {}
        }
    }
}
