package io.tessera.protocol;

import static io.tessera.protocol.CompiledHeader.constant;

import io.tessera.protocol.message.MessageType;
import io.tessera.protocol.message.RelayAnswer;
import io.tessera.protocol.message.RelayMessageLayout;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.StructLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares tessera_relay.h, as its compiler sees it, with the Java layout, both ways. */
class RelayParityTest {
    private static final List<StructLayout> STRUCTS = List.of(RelayLayout.RECORD, RelayLayout.LAUNCH, RelayLayout.BULK,
            RelayLayout.MARK, RelayLayout.CONTEXT_CHANGE, RelayLayout.PARAMETER, RelayLayout.FUNCTION_INFO,
            RelayLayout.MEMORY_INFO, RelayLayout.IPC_HANDLE, RelayLayout.IMAGE_REFERENCE, RelayLayout.REPLY, RelayLayout.DEVICE, RelayLayout.SEGMENT,
            RelayMessageLayout.ASK, RelayMessageLayout.ANSWER, RelayMessageLayout.HELLO, RelayMessageLayout.WELCOME, RelayMessageLayout.PIN,
            RelayMessageLayout.PINNED, RelayMessageLayout.IMAGE, RelayMessageLayout.IMAGE_TAKEN);
    /** By number, from 1: io.tessera.device.HandleKind has them for the executor. */
    private static final List<String> HANDLES = List.of("CONTEXT", "STREAM", "EVENT", "MODULE", "FUNCTION", "LIBRARY",
            "KERNEL", "POOL", "ALLOCATION", "ARRAY", "MIPMAP", "TEXTURE", "SURFACE", "TEXREF", "SURFREF", "GRAPH",
            "GRAPH_NODE", "GRAPH_EXEC", "LINKER", "USER_OBJECT", "GREEN_CONTEXT", "RESOURCE");

    @TempDir
    static Path folder;
    private static CompiledHeader header;

    @BeforeAll
    static void compileAndRunTheDump() throws Exception {
        header = new CompiledHeader(folder, "tessera_relay.h", "relay_dump");
    }

    @Test
    void fieldsOffsetsAndSizesAreTheSame() {
        header.assertStructs(STRUCTS);
    }

    @Test
    void constantsAndEnumsAreTheSame() {
        Map<String, String> seenByJava = new TreeMap<>();
        sizes(seenByJava);
        for (MessageType type : MessageType.values()) {
            if (type.isRelay()) {
                constant(seenByJava, "MSG_" + type, type.code());
            }
        }
        for (RecordKind kind : RecordKind.values()) {
            constant(seenByJava, "RELAY_" + kind, kind.code());
        }
        for (QueryKind kind : QueryKind.values()) {
            constant(seenByJava, "QUERY_" + kind, kind.code());
        }
        for (FenceChoice choice : FenceChoice.values()) {
            constant(seenByJava, "FENCE_" + choice, choice.code());
        }
        for (UnfencedPolicy policy : UnfencedPolicy.values()) {
            constant(seenByJava, "UNFENCED_" + policy, policy.code());
        }
        for (int i = 0; i < HANDLES.size(); i++) {
            constant(seenByJava, "HANDLE_" + HANDLES.get(i), i + 1);
        }
        header.assertConstants(seenByJava);
    }

    private static void sizes(Map<String, String> to) {
        constant(to, "RELAY_MAGIC", RelayLayout.MAGIC);
        constant(to, "RELAY_VERSION", RelayLayout.VERSION);
        constant(to, "RELAY_IMAGE_MAGIC", RelayLayout.IMAGE_MAGIC);
        constant(to, "RELAY_IPC_MAGIC", RelayLayout.IPC_MAGIC);
        constant(to, "RELAY_RING_BYTES", RelayLayout.RING_BYTES);
        constant(to, "RELAY_RECORD_MAX", RelayLayout.RECORD_MAX);
        constant(to, "RELAY_INLINE_MAX", RelayLayout.INLINE_MAX);
        constant(to, "RELAY_BULK_MAX", RelayLayout.BULK_MAX);
        constant(to, "RELAY_SLOTS", RelayLayout.SLOTS);
        constant(to, "RELAY_SLOT_BYTES", RelayLayout.SLOT_BYTES);
        constant(to, "RELAY_REPLY_MAX", RelayLayout.REPLY_MAX);
        constant(to, "RELAY_WORDS", RelayLayout.WORDS);
        constant(to, "RELAY_PRINT_BYTES", RelayLayout.PRINT_BYTES);
        constant(to, "RELAY_NOTICE_BYTES", RelayLayout.NOTICE_BYTES);
        constant(to, "RELAY_ATTRIBUTES", RelayLayout.ATTRIBUTES);
        constant(to, "RELAY_LIMITS", RelayLayout.LIMITS);
        constant(to, "RELAY_FUNCTION_ATTRIBUTES", RelayLayout.FUNCTION_ATTRIBUTES);
        constant(to, "RELAY_PARAMETERS", RelayLayout.PARAMETERS);
        constant(to, "RELAY_ALL_STREAMS", RelayLayout.ALL_STREAMS);
        constant(to, "RELAY_FLAG_BULK", RelayLayout.FLAG_BULK);
        constant(to, "RELAY_FLAG_COOPERATIVE", RelayLayout.FLAG_COOPERATIVE);
        constant(to, "RELAY_FLAG_WAITED", RelayLayout.FLAG_WAITED);
        constant(to, "RELAY_FLAG_LAST", RelayLayout.FLAG_LAST);
        constant(to, "CONTEXT_CREATE", RelayLayout.CONTEXT_CREATE);
        constant(to, "CONTEXT_DESTROY", RelayLayout.CONTEXT_DESTROY);
        constant(to, "HANDLE_TAG", RelayLayout.HANDLE_TAG);
        constant(to, "RELAY_TOKEN", RelayMessageLayout.TOKEN_BYTES);
        constant(to, "RELAY_WAIT", Integer.toUnsignedLong(RelayAnswer.WAIT));
    }

    @Test
    void theDumpPrintsEveryNameOfTheHeader() throws Exception {
        header.assertDumpIsWhole(150);
    }
}
