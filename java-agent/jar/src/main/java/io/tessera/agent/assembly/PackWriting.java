package io.tessera.agent.assembly;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Map;
import java.util.zip.DeflaterOutputStream;

/** Writes the pack that {@code io.tessera.agent.Pack} describes and reads. */
final class PackWriting {
    private PackWriting() {
    }

    static byte[] of(Map<String, byte[]> files) throws IOException {
        ByteArrayOutputStream index = new ByteArrayOutputStream();
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(index);
        out.writeInt(files.size());
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            int begin = data.size();
            try (DeflaterOutputStream packed = new DeflaterOutputStream(data)) {
                packed.write(file.getValue());
            }
            out.writeUTF(file.getKey());
            out.writeInt(begin);
            out.writeInt(data.size() - begin);
        }
        ByteArrayOutputStream pack = new ByteArrayOutputStream();
        new DataOutputStream(pack).writeInt(index.size());
        index.writeTo(pack);
        data.writeTo(pack);
        return pack.toByteArray();
    }
}
