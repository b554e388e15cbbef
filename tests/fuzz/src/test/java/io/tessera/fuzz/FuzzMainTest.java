package io.tessera.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command's result. */
class FuzzMainTest {
    @Test
    @Timeout(300)
    void aRunThatTheClockEndsWritesItsResult(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("result.json");
        int code = new CommandLine(new FuzzMain()).execute("--seed", "4711", "--seconds", "0", "--verify-every", "1", "--compile-every", "0",
                "--commit", "abc",
                "--json", json.toString(), "--save", folder.toString());
        JsonObject result = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        assertEquals(0, code, result::toString);
        assertEquals(4711, result.get("seed").getAsLong());
        assertEquals("abc", result.get("commit").getAsString());
        assertTrue(result.get("kernels").getAsInt() > 0, result::toString);
        assertEquals(3, result.get("modes").getAsJsonArray().size());
        assertEquals(1, result.getAsJsonObject("machine").get("threads").getAsInt());
        assertEquals(0, result.get("running").getAsInt());
        long looked = result.get("verified").getAsLong() + result.get("verifiedWithoutProofsOnly").getAsLong() + result.get("unverified").getAsLong();
        assertEquals(3 * result.get("kernels").getAsLong() - result.get("refused").getAsLong(), looked, result::toString);
        assertTrue(Files.notExists(folder.resolve("result.json.new")));
    }
}
